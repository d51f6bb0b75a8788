"""The looks of a page as a browser measures them: functions in JavaScript for `page.evaluate`."""

from __future__ import annotations

FIGURES = "img"

CLIPPED = """(selectors) => {
    // Parts of the article wider than the window, or than the part that scrolls or cuts them.
    const article = document.querySelector("article.bd-article");
    const problems = [];

    const excess = (part) => {
        const { left, right } = part.getBoundingClientRect();
        let pixels = Math.max(right - innerWidth, -left);
        const isInline = part.clientWidth === 0; // a formula
        if (!isInline) pixels = Math.max(pixels, part.scrollWidth - part.clientWidth);
        for (let outer = part.parentElement; outer !== article; outer = outer.parentElement) {
            if (getComputedStyle(outer).overflowX === "visible") continue;
            const box = outer.getBoundingClientRect();
            pixels = Math.max(pixels, right - box.right, box.left - left);
        }
        return pixels;
    };

    for (const part of article.querySelectorAll(selectors)) {
        const isInWidget = part.closest(".capsnet, .live-widget") !== null;
        if (!part.checkVisibility() || isInWidget) continue;
        if (part.getBoundingClientRect().width === 0 || excess(part) <= 2) continue;
        const words = part.textContent.trim().replace(/\\s+/g, " ").slice(0, 60);
        problems.push(`${Math.round(excess(part))} px of ${part.localName}: ${words}`);
    }
    return problems;
}"""
"""Selectors -> "12 px of table: its first words" for each part of which something is hidden."""

SLABS = """async () => {
    // Pictures of the article whose pixels, as shown, are mostly light. (A filter may invert.)
    const SIDE = 40; // pixels of the copy that is looked at
    const LIGHT = 560; // red, green and blue of a light pixel together
    const brush = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE })
        .getContext("2d", { willReadFrequently: true });

    const lightShare = (picture) => {
        brush.clearRect(0, 0, SIDE, SIDE);
        brush.drawImage(picture, 0, 0, SIDE, SIDE);
        const { data } = brush.getImageData(0, 0, SIDE, SIDE);
        let light = 0;
        for (let k = 0; k < data.length; k += 4) {
            const isOpaque = data[k + 3] > 128;
            if (isOpaque && data[k] + data[k + 1] + data[k + 2] > LIGHT) light += 1;
        }
        return light / SIDE ** 2;
    };

    const slabs = [];
    for (const picture of document.querySelectorAll("article.bd-article img")) {
        if (!picture.checkVisibility() || picture.clientWidth < 60) continue;
        picture.loading = "eager"; // a lazy one out of sight never decodes
        await picture.decode();
        const isInverted = getComputedStyle(picture).filter.includes("invert(1)");
        if (!isInverted && lightShare(picture) > 0.5)
            slabs.push(picture.alt || picture.src.slice(-60));
    }
    return slabs;
}"""
"""The descriptions of figures that are light slabs in the dark."""

SHRUNK = """async () => {
    // A figure's file has 1.5 pixels for each of the page's, where its letters have their size.
    const DENSITY = 1.5;
    const shrunk = [];
    for (const figure of document.querySelectorAll(".two-forms img")) {
        if (!figure.checkVisibility()) continue;
        figure.loading = "eager";
        await figure.decode();
        const { naturalWidth } = Object.assign(new Image(), { src: figure.currentSrc });
        if (naturalWidth / DENSITY > 1.13 * figure.clientWidth) shrunk.push(figure.alt);
    }
    return shrunk;
}"""
"""The descriptions of figures that the window shrinks by an eighth or more."""

SMALL_TARGETS = """([least, narrow]) => {
    // What is pressed, pulled or chosen. Ten side by side are as wide as a phone lets them.
    const TARGETS = "button, summary, select, input, [role=slider], .cover-buttons a, "
        + ".live-widget [tabindex='0']";
    const ONE_OF_TEN = ".rails > *, .under > *, .uppers > *";
    const small = [];
    for (const target of document.querySelectorAll("article.bd-article *")) {
        const isSeen = target.checkVisibility({ visibilityProperty: true });
        if (!target.matches(TARGETS) || !isSeen || target.closest("math")) continue;
        // A slider for keys alone: the pointer draws in the field around it.
        if (getComputedStyle(target).pointerEvents === "none") continue;
        // A radio button is pressed by its label, too: the whole line of an option.
        const pressed = (target.matches("[type=radio]") && target.closest("label")) || target;
        const { width, height } = pressed.getBoundingClientRect();
        if (width === 0 || height === 0) continue;
        const leastWidth = target.matches(ONE_OF_TEN) ? narrow : least;
        if (height >= least && width >= leastWidth) continue;
        const where = target.closest(".live-widget")?.dataset.widget ?? "the page";
        const words = target.getAttribute("aria-label") ?? target.textContent.trim();
        const size = `${Math.round(width)} x ${Math.round(height)}`;
        small.push(`${size} in ${where}: ${words.slice(0, 40)}`);
    }
    return small;
}"""
"""[pixels, pixels of one of ten side by side] -> the targets that are smaller."""

STRETCHES = """(most) => {
    // Runs of the article without a picture, plot or widget. What is folded away takes no room.
    const PICTURES = "img, svg, canvas, figure.live-widget, [role=img], .claims";
    const article = document.querySelector("article.bd-article");
    const { top, bottom } = article.getBoundingClientRect();
    const visible = (selectors) =>
        [...article.querySelectorAll(selectors)].filter((part) => part.checkVisibility());
    const boxes = visible(PICTURES)
        .map((part) => part.getBoundingClientRect())
        .filter(({ width, height }) => width >= 100 && height >= 50)
        .sort((one, other) => one.top - other.top);
    const headings = visible("h1, h2, h3");
    const headingAbove = (y) => {
        const above = headings.filter((heading) => heading.getBoundingClientRect().top <= y);
        return above.at(-1) ?? headings[0];
    };

    const stretches = [];
    let start = top;
    for (const box of [...boxes, { top: bottom, bottom }]) {
        const height = Math.round(box.top - start);
        if (height > most)
            stretches.push(`${height} px, begins in: ${headingAbove(start).textContent}`);
        start = Math.max(start, box.bottom);
    }
    return stretches;
}"""
"""Pixels -> the stretches that are longer, each with the heading in whose section it begins."""

COVERED = """() => {
    // Text under something else: a table under a note in the margin, and below a veiled paragraph
    // what the button "Show the answer" hides.
    const article = document.querySelector("article.bd-article");
    const visible = (selectors) =>
        [...article.querySelectorAll(selectors)].filter((part) => part.checkVisibility());
    const covers = (one, other) => {
        const above = one.getBoundingClientRect();
        const below = other.getBoundingClientRect();
        const width = Math.min(above.right, below.right) - Math.max(above.left, below.left);
        const height = Math.min(above.bottom, below.bottom) - Math.max(above.top, below.top);
        return width > 4 && height > 4;
    };

    const notes = visible("section > blockquote").filter(
        (note) => getComputedStyle(note).float === "right"
    );
    const buttons = visible(".veil > button");
    const pairs = [
        ...notes.flatMap((note) => visible("table").map((table) => [note, table])),
        ...buttons.flatMap((button) =>
            visible("p:not(.veiled), li").map((text) => [button, text])
        ),
    ];
    return pairs
        .filter(([one, other]) => covers(one, other) && !other.closest(".veiled"))
        .map(([, other]) => other.textContent.trim().slice(0, 60));
}"""
"""The first words of what a note or a button lies on."""

THREE_OF_A_KIND = """() => {
    // Let axe look at the contrast of three texts of each kind, and not of one: it may be covered.
    // Of a kind are texts of one colour, size and weight on the same grounds. In figures parts lie
    // over each other, so each counts.
    const PLAIN = "rgba(0, 0, 0, 0),none,1,none,auto,none";
    const grounds = (part) => {
        if (!part) return "";
        const style = getComputedStyle(part);
        const { backgroundColor, backgroundImage, opacity, filter, clip, clipPath } = style;
        const own = [backgroundColor, backgroundImage, opacity, filter, clip, clipPath].join();
        return grounds(part.parentElement) + (own === PLAIN ? "" : own);
    };
    const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
    const counts = {};
    for (const part of document.querySelectorAll("article.bd-article *")) {
        if (![...part.childNodes].some(isText)) continue;
        if (!part.checkVisibility({ visibilityProperty: true })) continue;
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(part);
        const kind = [color, fontSize, fontWeight, textShadow, grounds(part)].join();
        counts[kind] = (counts[kind] ?? 0) + 1;
        part.toggleAttribute("data-audited", counts[kind] <= 3 || part.closest("figure") !== null);
    }
    const selector = "[data-audited], input, select, textarea";
    axe.configure({ rules: [{ id: "color-contrast", selector }] });
}"""
"""Goes with axe, in each theme: a look at a text takes a millisecond, and most are like others."""
