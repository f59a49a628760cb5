
"use strict";
/* Controls that change the state of the viewer: pointers, keys, buttons and numbers.
 * page.c puts this script into HTML pages, as the last one; it starts the viewer. */

const voxelAt = (i, event) => voxelUnder(planes[i].canvas, i, event, state.at);

function point(i, event) {
    const at = voxelAt(i, event);
    state.pointer = {plane: i, at};
    if (state.mip) {
        const [right, up] = AXES[i];
        const plane = greatestPlane(state.frame, i);
        const bin = [right, up].map((a) => Math.floor(at[a] / meta.join[a]));
        state.pointer.mip = plane.values[bin[1] * plane.w + bin[0]];
    }
    sayPointer();
}

let drag = null; /* drag in progress: start {plane, x, y} and window {lo, hi}; ofWindow: it changes the grey window */

function pointerDown(i, event) {
    state.active = i;
    const ofWindow = event.shiftKey || event.button === 2;
    drag = {plane: i, x: event.clientX, y: event.clientY, lo: state.lo, hi: state.hi, ofWindow};
    if (event.pointerType === "mouse")
        planes[i].canvas.setPointerCapture(event.pointerId);
    if (!ofWindow && !state.mip)
        state.at = voxelAt(i, event);
    show();
}

function pointerMove(i, event) {
    point(i, event);
    if (!drag || event.pointerType !== "mouse")
        return;
    if (drag.ofWindow) {
        const width = (drag.hi - drag.lo) * 2 ** ((event.clientX - drag.x) / 150);
        const centre = (drag.lo + drag.hi) / 2 + (drag.y - event.clientY) / 300 * (drag.hi - drag.lo);
        setWindow(centre - width / 2, centre + width / 2);
    } else if (!state.mip) {
        state.at = voxelAt(i, event);
        show();
    }
}

function listenToPlane(p, i) {
    const through = AXES[i][2];
    p.slider.max = Math.floor((meta.size[through] - 1) / stepOf(through)) * stepOf(through);
    p.slider.step = stepOf(through);
    p.slider.setAttribute("aria-label", `Slice along ${"xyz"[through]}`);
    p.slider.addEventListener("input", () => {
        state.active = i;
        moveTo(through, +p.slider.value);
    });
    p.canvas.addEventListener("pointerdown", (e) => pointerDown(i, e));
    p.canvas.addEventListener("pointermove", (e) => pointerMove(i, e));
    p.canvas.addEventListener("pointerup", () => drag = null);
    p.canvas.addEventListener("pointercancel", () => drag = null);
    p.canvas.addEventListener("pointerleave", () => {
        state.pointer = null;
        sayPointer();
    });
    listenToWheel(p.canvas, (by) => moveBy(through, by));
    p.canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    p.canvas.addEventListener("focus", () => {
        state.active = i;
        show();
    });
    p.button.addEventListener("click", () => loadFull(i));
}

/* Functions of keys, while no input element has the focus. */
const keys = {
    ",": () => setFrame(state.frame - 1),
    ".": () => setFrame(state.frame + 1),
    w: () => stretch(1 / 1.1),
    W: () => stretch(1.1),
    l: () => setWindow(state.lo - 0.05 * (state.hi - state.lo), state.hi - 0.05 * (state.hi - state.lo)),
    L: () => setWindow(state.lo + 0.05 * (state.hi - state.lo), state.hi + 0.05 * (state.hi - state.lo)),
    a: () => setWindow(...firstWindow(state.mip)),
    f: () => setWindow(meta.min, meta.max),
    m: () => setMip(!state.mip),
    i: () => toggle("invert"),
    o: () => toggle("only"),
    h: () => {
        state.at = meta.size.map((n) => Math.floor(n / 2));
        show();
    },
    "?": () => $("help").showModal(),
};

/* Switch between slices and greatest values; an unchanged window becomes that of the new mode. */
function setMip(mip) {
    const [lo, hi] = firstWindow(state.mip);
    if (state.lo === lo && state.hi === hi)
        [state.lo, state.hi] = firstWindow(mip);
    state.mip = mip;
    show();
}

function stretch(factor) {
    const centre = (state.lo + state.hi) / 2;
    const half = (state.hi - state.lo) / 2 * factor;
    setWindow(centre - half, centre + half);
}

function toggle(word) {
    state[word] = !state[word];
    show();
}

function choosePlane(i) {
    if (flat && i > 0)
        return;
    state.active = i;
    if (state.only)
        show();
    planes[i].canvas.focus();
    show();
}

function onKey(event) {
    const control = event.target.closest("input, select, dialog");
    const key = event.key;
    if (event.ctrlKey || event.altKey || event.metaKey || control)
        return;
    if ("123".includes(key) && key.length === 1)
        choosePlane(+key - 1);
    else if (Object.hasOwn(MOVES, key))
        moveBy(AXES[state.active][MOVES[key][0]], MOVES[key][1] * (event.shiftKey ? 10 : 1));
    else if (Object.hasOwn(keys, key))
        keys[key]();
    else
        return;
    event.preventDefault();
}

/* Fill the list of named grey windows. */
function listPresets() {
    const list = [["Most values", ...meta.window], ["All values", meta.min, meta.max]];
    if (meta.unit === "HU")
        list.push(["Soft tissue", -160, 240], ["Lung", -1350, 150], ["Bone", -450, 1050],
            ["Brain", 0, 80], ["Water \u00b1 500", -500, 500]);
    const select = $("preset");
    for (const [name, lo, hi] of [["choose \u2026", NaN, NaN], ...list])
        select.add(new Option(Number.isFinite(lo) ? `${name}: ${short(lo)} to ${short(hi)}` : name));
    select.addEventListener("change", () => {
        const chosen = list[select.selectedIndex - 1];
        if (chosen)
            setWindow(chosen[1], chosen[2]);
        select.selectedIndex = 0;
    });
}

function listenToNumbers() {
    for (const id of ["lo", "hi"])
        $(id).addEventListener("change", () => setWindow(+$("lo").value, +$("hi").value));
    for (const id of ["centre", "width"])
        $(id).addEventListener("change", () => {
            const half = +$("width").value / 2;
            setWindow(+$("centre").value - half, +$("centre").value + half);
        });
}

/* Drag in the histogram: the nearer end of the grey window follows the pointer. */
function listenToHistogram() {
    const canvas = $("histogram");
    let end = null;
    const follow = (event) => {
        const box = canvas.getBoundingClientRect();
        const {lo, width, counts} = meta.histogram;
        const value = lo + (event.clientX - box.left) / box.width * width * counts.length;
        if (end === null)
            end = Math.abs(value - state.lo) < Math.abs(value - state.hi) ? "lo" : "hi";
        setWindow(end === "lo" ? value : state.lo, end === "hi" ? value : state.hi);
    };
    canvas.addEventListener("pointerdown", (event) => {
        end = null;
        canvas.setPointerCapture(event.pointerId);
        follow(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons ? follow(event) : null);
    $("logarithm").addEventListener("change", show);
}

function listen() {
    planes.forEach(listenToPlane);
    listPresets();
    listenToNumbers();
    listenToHistogram();
    for (const [id, mip] of [["slices", false], ["mip", true]])
        $(id).addEventListener("click", () => setMip(mip));
    for (const word of ["invert", "only"])
        $(word).addEventListener("click", () => toggle(word));
    $("help-button").addEventListener("click", () => $("help").showModal());
    $("help-close").addEventListener("click", () => $("help").close());
    $("frame").addEventListener("input", () => setFrame(+$("frame").value));
    addEventListener("keydown", onKey);
    addEventListener("resize", show);
    addEventListener("hashchange", readAddress);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
}

/* Print the facts that do not change: range, mean, counts, unit. */
function describe() {
    const n = meta.finite + meta.not_finite;
    $("range").textContent = `${short(meta.min)}, ${short(meta.max)}${unit}`;
    $("mean").textContent = `${short(meta.mean)}, ${short(meta.sd)}${unit}`;
    $("count").textContent = `${n}${meta.not_finite ? `, of which ${meta.not_finite} are no numbers` : ""}`;
    $("unit").textContent = meta.unit || "unit not known";
    const {lo, width, counts} = meta.histogram;
    $("histogram-lo").textContent = short(Math.max(lo, meta.min));
    $("histogram-hi").textContent = short(Math.min(lo + width * counts.length, meta.max));
    $("frame-label").hidden = meta.frames < 2;
    $("frame").max = meta.frames - 1;
}

async function start() {
    if (typeof DecompressionStream === "undefined")
        throw new Error("this browser is too old to unpack the samples: use one of 2023 or later");
    $("progress").hidden = false;
    await takeSamples((done, all) => $("progress").textContent = `Unpacking the samples: ${done} of ${all}`);
    $("progress").hidden = true;
    $("desk").hidden = false;
    describe();
    listen();
    readAddress();
}

start().catch((error) => {
    $("progress").hidden = true;
    problem(`The volume cannot be shown: ${error.message}.`);
});
