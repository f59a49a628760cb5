
"use strict";
/* The address of the page, which stores the state of the viewer, and full slices from fbp view
 * --serve. page.c puts this script into HTML pages; shown.js and controls.js call it. */
let resting = 0;

/* After 150 ms without a change, write the address and request full slices. */
function rest() {
    clearTimeout(resting);
    resting = setTimeout(() => {
        writeAddress();
        for (let i = 0; served && i < 3; i++)
            offerFull(i);
    }, 150);
}

function offerFull(i) {
    const p = planes[i];
    const needed = isReduced && !state.mip && !fullPlane(i) && !p.figure.hidden && p.failed !== fullKey(i);
    const cost = meta.slice_cost[i];
    p.button.hidden = !needed || cost <= EAGER || p.loading === fullKey(i);
    p.button.textContent = `Full slice (reads ${(cost / 2 ** 20).toFixed(0)} MiB)`;
    if (needed && cost <= EAGER)
        loadFull(i);
}

/* Request a full slice from the server: float32 in little-endian byte order, the lowest row first. */
async function loadFull(i) {
    const p = planes[i];
    const key = fullKey(i);
    const [right, up, through] = AXES[i];
    if (p.loading)
        return; /* rest() is called again when the slice has arrived */
    p.loading = key;
    p.button.hidden = true;
    try {
        const answer = await fetch(`slice?plane=${i}&index=${state.at[through]}&frame=${state.frame}`);
        if (!answer.ok)
            throw new Error(await answer.text());
        const values = new Float32Array(await answer.arrayBuffer());
        problem("");
        p.full = {key, plane: {w: meta.size[right], h: meta.size[up], join: [1, 1], values}};
    } catch (error) {
        p.failed = key; /* the slice is not requested again */
        problem(`A full slice did not come: ${error.message}. Is fbp view --serve still running?`);
    }
    p.loading = null;
    show();
}

/* Write the state of the viewer behind '#' of the address: positions in voxels, window in values. */
function writeAddress() {
    const [x, y, z] = state.at;
    const words = [`x=${x}`, `y=${y}`, `z=${z}`, `lo=${short(state.lo)}`, `hi=${short(state.hi)}`];
    if (meta.frames > 1)
        words.push(`frame=${state.frame}`);
    for (const word of ["mip", "invert", "only"])
        if (state[word])
            words.push(`${word}=1`);
    if (state.active)
        words.push(`plane=${state.active}`);
    try {
        history.replaceState(null, "", `#${words.join("&")}`);
    } catch (error) {
        /* a page inside a frame has no address of its own */
    }
}

function readAddress() {
    const words = new URLSearchParams(location.hash.slice(1));
    const number = (name, otherwise) =>
        words.has(name) && Number.isFinite(+words.get(name)) ? +words.get(name) : otherwise;
    ["x", "y", "z"].forEach((name, a) =>
        state.at[a] = clamp(Math.round(number(name, state.at[a])), 0, meta.size[a] - 1));
    state.frame = clamp(Math.round(number("frame", state.frame)), 0, meta.frames - 1);
    state.active = flat ? 0 : clamp(Math.round(number("plane", state.active)), 0, 2);
    setMip(Boolean(number("mip", state.mip)));
    for (const word of ["invert", "only"])
        state[word] = Boolean(number(word, state[word]));
    setWindow(number("lo", state.lo), number("hi", state.hi));
}
