// A copy of somebody else's small library; do not change it here.

/** Returns a function that waits for a pause in the calls before it calls `action` once. */
export function debounce(action, pauseMs) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), pauseMs);
  };
}

/** Returns a function that calls `action` at most once in `everyMs`. */
export function throttle(action, everyMs) {
  let last = -Infinity;
  return (...values) => {
    const now = Date.now();
    if (now - last >= everyMs) {
      last = now;
      action(...values);
    }
  };
}
