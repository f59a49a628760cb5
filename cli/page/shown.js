
"use strict";
/* State of the viewer (cross-hair, frame, grey window, mode), and functions that draw and print it.
 * page.c puts this script into HTML pages; address.js and controls.js call it. */
const figures = [...document.querySelectorAll(".plane")];
const planes = figures.map((figure) => ({
    figure,
    canvas: figure.querySelector("canvas"),
    where: figure.querySelector(".where"),
    button: figure.querySelector(".full"),
    slider: figure.querySelector("input"),
    full: null, /* {key, plane}: full slice from the server */
}));
const served = Array.isArray(meta.slice_cost);
const firstWindow = (mip) => mip ? meta.window_mip : meta.window;
const state = {at: [...meta.start], frame: 0, lo: firstWindow(meta.mip)[0], hi: firstWindow(meta.mip)[1],
    mip: meta.mip, invert: false, only: false, active: 0, pointer: null};
const EAGER = 256 * 2 ** 20; /* greatest cost of a full slice that is requested without a click [bytes read] */

const unit = meta.unit ? ` ${meta.unit}` : "";
const isReduced = meta.join.some((k) => k > 1);
const stepOf = (axis) => served ? 1 : meta.join[axis];

/* Full slice of plane i for the current cross-hair and frame; null: not loaded. */
function fullPlane(i) {
    const full = planes[i].full;
    return !state.mip && full && full.key === fullKey(i) ? full.plane : null;
}

function fullKey(i) {
    return `${i} ${state.at[AXES[i][2]]} ${state.frame}`;
}

function planeOf(i) {
    return state.mip ? greatestPlane(state.frame, i)
        : fullPlane(i) || slicePlane(state.frame, i, state.at);
}

/* Value at the voxel at[]; exact: the value of the voxel itself, not of a mean over a bin. */
function valueAt(at) {
    for (let i = 0; i < 3; i++) {
        const [right, up, through] = AXES[i];
        const full = fullPlane(i);
        if (full && at[through] === state.at[through])
            return {value: full.values[at[up] * full.w + at[right]], exact: true};
    }
    return {value: sampleAt(state.frame, at), exact: !isReduced};
}

function sayValue(cell, value, exact) {
    cell.textContent = `${short(value)}${Number.isFinite(value) ? unit : ""}${exact ? "" : " (mean)"}`;
    cell.dataset.value = String(value);
}

function sayPlace(voxel, place, at, exact) {
    const bins = at.map((v, a) => exact ? [v, v] : binOf(v, a));
    voxel.textContent = bins.map(([a, b]) => a === b ? a : `${a}\u2013${b}`).join(", ");
    place.textContent = meta.has_mm ? bins.map(([a, b], i) => short(placeOf(a, b, i))).join(", ")
        : "not known";
}

function sayPointer() {
    const p = state.pointer;
    const cells = ["value", "place", "voxel"].map((name) => $(`pointer-${name}`));
    if (!p) {
        cells.forEach((cell) => cell.textContent = "");
        return;
    }
    if (p.mip !== undefined) {
        sayValue(cells[0], p.mip, true);
        cells[1].textContent = `greatest along ${"xyz"[AXES[p.plane][2]]}`;
        cells[2].textContent = "";
        return;
    }
    const {value, exact} = valueAt(p.at);
    sayValue(cells[0], value, exact);
    sayPlace(cells[2], cells[1], p.at, exact);
}

/* Caption of plane i: position and index of its slice. */
function captionOf(i) {
    const through = AXES[i][2];
    if (state.mip)
        return `greatest value along ${"xyz"[through]}`;
    const [a, b] = fullPlane(i) ? [state.at[through], state.at[through]] : binOf(state.at[through], through);
    const index = a === b ? `${a}` : `${a}\u2013${b}`;
    const mm = meta.has_mm ? `, ${short(placeOf(a, b, through))} mm` : "";
    return `${"xyz"[through]} = ${index} of 0\u2013${meta.size[through] - 1}${mm}${fullPlane(i) ? ", full" : ""}`;
}

function showPlanes() {
    planes.forEach((p, i) => p.figure.hidden = (state.only && i !== state.active) || (flat && i > 0));
    $("planes").classList.toggle("single", state.only || flat);
    const sizes = sizesOf(figures, Math.max(200, innerHeight * (state.only || flat ? 0.75 : 0.58)));
    planes.forEach((p, i) => {
        if (p.figure.hidden)
            return;
        const [right, up, through] = AXES[i];
        const middle = (axis) => fullPlane(i) ? state.at[axis]
            : binOf(state.at[axis], axis).reduce((x, y) => (x + y) / 2);
        const cross = state.mip ? null : [middle(right), middle(up)];
        drawPlane(p.canvas, i, planeOf(i), sizes[i], state, cross);
        p.figure.classList.toggle("active", i === state.active);
        p.where.textContent = captionOf(i);
        p.canvas.setAttribute("aria-label", `${["xy", "xz", "yz"][i]}: ${captionOf(i)}`);
        p.slider.value = state.at[through];
        p.slider.disabled = state.mip;
        p.slider.setAttribute("aria-valuetext", captionOf(i));
    });
}

function showWindow() {
    const numbers = {lo: state.lo, hi: state.hi, centre: (state.lo + state.hi) / 2,
        width: state.hi - state.lo};
    for (const [id, value] of Object.entries(numbers))
        if (document.activeElement !== $(id))
            $(id).value = short(value);
    $("bar-lo").textContent = short(state.lo);
    $("bar-hi").textContent = short(state.hi);
    $("bar").style.background = `linear-gradient(to right, ${state.invert ? "#fff, #000" : "#000, #fff"})`;
    $("bar").setAttribute("aria-label", `grey from ${short(state.lo)} to ${short(state.hi)}${unit}`);
    drawHistogram($("histogram"), state, $("logarithm").checked);
}

function showNumbers() {
    const {value, exact} = valueAt(state.at);
    sayValue($("value"), value, exact);
    sayPlace($("voxel"), $("place"), state.at, exact);
    sayPointer();
    $("slices").setAttribute("aria-pressed", !state.mip);
    $("mip").setAttribute("aria-pressed", state.mip);
    $("invert").setAttribute("aria-pressed", state.invert);
    $("only").setAttribute("aria-pressed", state.only);
    $("frame").value = state.frame;
    $("frame-number").textContent = `${state.frame + meta.first_frame} of ${meta.frames}`;
}

let drawing = 0;

function show() {
    if (!drawing)
        drawing = requestAnimationFrame(() => {
            drawing = 0;
            showPlanes();
            showWindow();
            showNumbers();
            rest();
        });
}

function setWindow(lo, hi) {
    if (Number.isFinite(lo) && Number.isFinite(hi) && hi > lo) {
        state.lo = lo;
        state.hi = hi;
    }
    show();
}

function moveTo(axis, voxel) {
    state.at[axis] = clamp(Math.round(voxel), 0, meta.size[axis] - 1);
    show();
}

function moveBy(axis, steps) {
    const step = stepOf(axis);
    moveTo(axis, Math.floor(state.at[axis] / step) * step + steps * step);
}

function setFrame(frame) {
    state.frame = clamp(Math.round(frame) || 0, 0, meta.frames - 1);
    show();
}
