// Work that rests while its tab is hidden.

/**
 * Let work rest while the tab is hidden, and go on when it is seen again.
 * @param {{ isRunning: () => boolean, pause: () => void, goOn: () => void }} work
 * @returns {() => void} what ends that
 */
export function restWhileHidden({ isRunning, pause, goOn }) {
  let waits = false; // until the tab is seen again

  function visibilityChanged() {
    if (!document.hidden && waits) goOn();
    waits = document.hidden && isRunning();
    if (waits) pause();
  }

  document.addEventListener("visibilitychange", visibilityChanged);
  return () => document.removeEventListener("visibilitychange", visibilityChanged);
}
