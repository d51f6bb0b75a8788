"""What a page looks like, as a browser measures it: parts clipped, slabs of light in the dark, small targets, texts."""

from __future__ import annotations

CLIPPED = """(what) => {
    // Parts of the article wider than the room they have: than the window, or than what scrolls or cuts them.
    const article = document.querySelector("article.bd-article");
    const found = [];
    for (const part of article.querySelectorAll(what)) {
        if (!part.checkVisibility() || part.closest(".capsnet, .live-widget")) continue;
        const { left, right, width } = part.getBoundingClientRect();
        let over = Math.max(right - innerWidth, -left, part.scrollWidth - part.clientWidth * (part.clientWidth > 0));
        if (part.clientWidth === 0) over = Math.max(right - innerWidth, -left); // inline: a formula
        for (let around = part.parentElement; around !== article; around = around.parentElement) {
            const box = around.getBoundingClientRect();
            if (getComputedStyle(around).overflowX === "visible") continue;
            over = Math.max(over, right - box.right, box.left - left);
        }
        const words = part.textContent.trim().replace(/\\s+/g, " ").slice(0, 60);
        if (over > 2 && width > 0) found.push(`${Math.round(over)} px of ${part.localName}: ${words}`);
    }
    return found;
}"""
"""Selectors -> "12 px of table: its first words" for each part of which something is hidden."""

FIGURES = "img"

SLABS = """async () => {
    // Pictures of the article whose pixels, as they are shown, are mostly light. (A filter turns pixels over.)
    const found = [];
    const pictures = [...document.querySelectorAll("article.bd-article img")];
    for (const picture of pictures) {
        if (!picture.checkVisibility() || picture.clientWidth < 60) continue;
        picture.loading = "eager"; // a lazy one out of sight never decodes
        await picture.decode();
        const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 40 });
        const brush = canvas.getContext("2d");
        brush.drawImage(picture, 0, 0, 40, 40);
        const data = brush.getImageData(0, 0, 40, 40).data;
        let light = 0;
        for (let k = 0; k < data.length; k += 4)
            light += data[k + 3] > 128 && data[k] + data[k + 1] + data[k + 2] > 560;
        const turned = getComputedStyle(picture).filter.includes("invert(1)");
        if (!turned && light > 800) found.push(picture.alt || picture.src.slice(-60));
    }
    return found;
}"""
"""The descriptions of figures that are light slabs in the dark."""

SHRUNK = """async () => {
    // A figure's file has 1.5 pixels for each of the page's, where its letters have the size that was meant.
    const found = [];
    for (const figure of document.querySelectorAll(".two-forms img")) {
        if (!figure.checkVisibility()) continue;
        figure.loading = "eager";
        await figure.decode();
        const { naturalWidth } = Object.assign(new Image(), { src: figure.currentSrc });
        if (naturalWidth / 1.5 > 1.13 * figure.clientWidth) found.push(figure.alt);
    }
    return found;
}"""
"""The descriptions of figures that the window shrinks by an eighth or more."""

SMALL_TARGETS = """([least, narrow]) => {
    // What is pressed, pulled or chosen, in widgets and around them. Ten side by side are as wide as a phone lets them.
    const pressed = "button, summary, select, input, [role=slider], .cover-buttons a, .live-widget [tabindex='0']";
    const ten = ".rails > *, .under > *, .uppers > *";
    return [...document.querySelectorAll("article.bd-article")]
        .flatMap((article) => [...article.querySelectorAll(pressed)])
        .filter((target) => target.checkVisibility({ visibilityProperty: true }) && !target.closest("mjx-container"))
        .map((target) => [target, target.getBoundingClientRect()])
        .filter(([target, { width, height }]) => width > 0 && height > 0
            && (height < least || width < (target.matches(ten) ? narrow : least)))
        .map(([target, { width, height }]) => {
            const where = target.closest(".live-widget")?.dataset.widget ?? "the page";
            const words = target.getAttribute("aria-label") ?? target.textContent.trim();
            return `${Math.round(width)} x ${Math.round(height)} in ${where}: ${words.slice(0, 40)}`;
        });
}"""
"""[pixels, pixels of one of ten side by side] -> the targets that are smaller."""

STRETCHES = """(most) => {
    // Runs of the article without a picture, plot or widget. What is folded away takes no room.
    const article = document.querySelector("article.bd-article");
    const { top, bottom } = article.getBoundingClientRect();
    const visible = (each) => each.checkVisibility();
    const pictures = [...article.querySelectorAll("img, svg, canvas, figure.live-widget, [role=img], .claims")]
        .filter(visible)
        .map((each) => each.getBoundingClientRect())
        .filter(({ width, height }) => width >= 100 && height >= 50)
        .sort((one, other) => one.top - other.top);
    const headings = [...article.querySelectorAll("h1, h2, h3")].filter(visible);
    const found = [];
    let from = top;
    for (const picture of [...pictures, { top: bottom, bottom }]) {
        if (picture.top - from > most) {
            const before = headings.filter((each) => each.getBoundingClientRect().top <= from).at(-1) ?? headings[0];
            found.push(`${Math.round(picture.top - from)} px, begins in: ${before.textContent}`);
        }
        from = Math.max(from, picture.bottom);
    }
    return found;
}"""
"""Pixels -> the stretches that are longer, each with the heading in whose section it begins."""

THREE_OF_A_KIND = """() => {
    // Has axe look at the contrast of three texts of each kind, and not of one: it may be covered. Of a kind are texts
    // of one colour, size and weight on the same grounds. In figures parts lie over each other, so each counts.
    const grounds = (part) => {
        if (!part) return "";
        const { backgroundColor, backgroundImage, opacity, filter, clip, clipPath } = getComputedStyle(part);
        const own = [backgroundColor, backgroundImage, opacity, filter, clip, clipPath].join();
        return grounds(part.parentElement) + (own === "rgba(0, 0, 0, 0),none,1,none,auto,none" ? "" : own);
    };
    const kinds = {};
    for (const part of document.querySelectorAll("article.bd-article *")) {
        const written = [...part.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        if (!written || !part.checkVisibility({ visibilityProperty: true })) continue;
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(part);
        const kind = [color, fontSize, fontWeight, textShadow, grounds(part)].join();
        kinds[kind] = (kinds[kind] ?? 0) + 1;
        part.toggleAttribute("data-audited", kinds[kind] <= 3 || part.closest("figure") !== null);
    }
    const selector = "[data-audited], input, select, textarea";
    axe.configure({ rules: [{ id: "color-contrast", selector }] });
}"""
"""Goes with axe, in each theme: a look at a text takes a millisecond, and most are like others."""
