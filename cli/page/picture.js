
"use strict";
/* Drawing of planes on canvases: grey values, cross-hair, scale bar, axes; and of the histogram.
 * page.c puts this script into HTML pages; shown.js and tune.js call it. */
const $ = (id) => document.getElementById(id);
const clamp = (v, lo, hi) => Math.min(Math.max(v, lo), hi);
const short = (v) => Number.isFinite(v) ? String(+v.toPrecision(6)) : "not a number";
const flat = meta.size[2] === 1; /* a volume of one slice has only the plane xy */
const ink = document.createElement("canvas");

const LARGEST = 4096; /* greatest side of a canvas [pixels]: browsers refuse larger ones */

/* Draw the grey values of a plane on the canvas `ink`, one pixel per sample, the top row first; planes
 * larger than LARGEST are drawn with every second, third … sample. */
function paint(plane, lo, hi, invert) {
    const context = ink.getContext("2d");
    const every = [plane.w, plane.h].map((n) => Math.ceil(n / LARGEST));
    const w = ink.width = Math.ceil(plane.w / every[0]);
    const h = ink.height = Math.ceil(plane.h / every[1]);
    const image = context.createImageData(w, h);
    const pixels = new Uint32Array(image.data.buffer);
    const scale = 255 / (hi - lo);
    for (let j = 0; j < h; j++) {
        const row = (h - 1 - j) * every[1] * plane.w;
        for (let i = 0; i < w; i++) {
            const grey = (plane.values[row + i * every[0]] - lo) * scale;
            const g = grey >= 255 ? 255 : grey > 0 ? Math.round(grey) : 0;
            pixels[j * w + i] = 0xff000000 | (invert ? 255 - g : g) * 0x010101;
        }
    }
    context.putImageData(image, 0, 0);
    return ink;
}

/* Length of a scale bar, about a fifth of `most`: 1, 2 or 5 times a power of ten. */
function roundLength(most) {
    const ten = 10 ** Math.floor(Math.log10(most / 4));
    const part = most / 4 / ten;
    return (part >= 5 ? 5 : part >= 2 ? 2 : 1) * ten;
}

function drawBar(context, perUnit, w, h, ratio) {
    const length = roundLength(w / perUnit);
    const text = `${+length.toPrecision(3)} ${meta.has_mm ? "mm" : "voxels"}`;
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.lineWidth = 4 * ratio;
    context.strokeStyle = "rgb(0 0 0 / 60%)";
    context.fillStyle = "#fff";
    context.strokeText(text, 8 * ratio, h - 16 * ratio);
    context.strokeRect(8 * ratio, h - 10 * ratio, length * perUnit, 2 * ratio);
    context.fillText(text, 8 * ratio, h - 16 * ratio);
    context.fillRect(8 * ratio, h - 10 * ratio, length * perUnit, 2 * ratio);
}

/* Draw the names and directions of the axes in the upper left corner. */
function drawAxes(context, plane, ratio) {
    const [right, up] = AXES[plane].map((a) => "xyz"[a]);
    const unit = ratio * 4;
    context.strokeStyle = "rgb(0 0 0 / 60%)";
    context.lineWidth = 4 * ratio;
    for (const fill of [false, true]) {
        const put = (text, x, y) => fill ? context.fillText(text, x, y) : context.strokeText(text, x, y);
        put(`${up} \u2191`, 2 * unit, 5 * unit);
        put(`${right} \u2192`, 2 * unit, 9 * unit);
    }
}

function drawCross(context, x, y, w, h, ratio) {
    const gap = 8 * ratio;
    context.lineWidth = ratio;
    context.strokeStyle = "#ffb000";
    context.beginPath();
    for (const [x0, y0, x1, y1] of [[0, y, x - gap, y], [x + gap, y, w, y], [x, 0, x, y - gap],
        [x, y + gap, x, h]]) {
        context.moveTo(x0, y0);
        context.lineTo(x1, y1);
    }
    context.stroke();
}

/* Keys that move the cross-hair in a plane: axis (0 to the right, 1 up, 2 normal to the plane), voxels. */
const MOVES = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1],
    PageUp: [2, 1], PageDown: [2, -1]};

/* Call step(1) or step(-1) when the wheel turns on a canvas; with Ctrl it zooms the browser's page, and
 * greatest values have no slices. */
function listenToWheel(canvas, step) {
    canvas.addEventListener("wheel", (event) => {
        if (event.ctrlKey || state.mip)
            return;
        event.preventDefault();
        step(event.deltaY > 0 ? -1 : 1);
    }, {passive: false});
}

/* Show a message above the planes; "": hide it. */
function problem(text) {
    $("problem").textContent = text;
    $("problem").hidden = !text;
}

/* Voxel under the pointer on the canvas of plane i; the position along the normal is that of at[]. */
function voxelUnder(canvas, i, event, at) {
    const box = canvas.getBoundingClientRect();
    const [right, up] = AXES[i];
    const part = (v) => clamp(v, 0, 1 - 1e-9);
    const voxel = [...at];
    voxel[right] = Math.floor(part((event.clientX - box.left) / box.width) * meta.size[right]);
    voxel[up] = Math.floor(part((box.bottom - event.clientY) / box.height) * meta.size[up]);
    return voxel;
}

/* Sizes of the planes [CSS pixels]: all have one scale, the largest at which each visible figure fits
 * its column and the height `most`. */
function sizesOf(figures, most) {
    const mm = (axis) => meta.size[axis] * Math.abs(meta.mm[axis]);
    const scale = Math.min(...figures.map((figure, i) => figure.hidden ? Infinity : Math.min(
        (figure.querySelector(".frame").clientWidth - 2) / mm(AXES[i][0]), most / mm(AXES[i][1]))));
    return AXES.map(([right, up]) => [right, up].map((a) => Math.max(1, Math.floor(mm(a) * scale))));
}

/* Draw a plane on a canvas of css[0] x css[1] CSS pixels; cross: position of the cross-hair [voxels to the
 * right, up], null: none. */
function drawPlane(canvas, index, plane, css, window_, cross) {
    const ratio = devicePixelRatio || 1;
    const [right, up] = AXES[index];
    const w = canvas.width = Math.max(1, Math.round(css[0] * ratio));
    const h = canvas.height = Math.max(1, Math.round(css[1] * ratio));
    const context = canvas.getContext("2d");
    canvas.style.width = `${css[0]}px`;
    canvas.style.height = `${css[1]}px`;
    /* the last bin may have fewer voxels than the others: the part beyond the volume is cut off */
    const all = [plane.w * plane.join[0], plane.h * plane.join[1]];
    const part = [all[0] / meta.size[right], all[1] / meta.size[up]];
    context.imageSmoothingEnabled = w < plane.w || h < plane.h;
    context.imageSmoothingQuality = "high";
    const picture = paint(plane, window_.lo, window_.hi, window_.invert);
    context.drawImage(picture, 0, h * (1 - part[1]), w * part[0], h * part[1]);
    if (cross)
        drawCross(context, (cross[0] + 0.5) / meta.size[right] * w,
            h - (cross[1] + 0.5) / meta.size[up] * h, w, h, ratio);
    drawBar(context, w / (meta.size[right] * Math.abs(meta.mm[right])), w, h, ratio);
    drawAxes(context, index, ratio);
}

/* Draw the histogram of all voxels, with the grey window. */
function drawHistogram(canvas, window_, logarithm) {
    const ratio = devicePixelRatio || 1;
    const w = canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const h = canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const {lo, width, counts} = meta.histogram;
    const of = (n) => logarithm ? Math.log1p(n) : n;
    const most = counts.reduce((m, n) => Math.max(m, of(n)), 0) || 1;
    const all = width * counts.length || 1;
    const x = (value) => (value - lo) / all * w;
    context.fillStyle = style.getPropertyValue("--line");
    context.globalAlpha = 0.55;
    context.fillRect(x(window_.lo), 0, x(window_.hi) - x(window_.lo), h);
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue("--quiet");
    counts.forEach((n, i) => {
        const height = of(n) / most * (h - 2 * ratio);
        context.fillRect(i / counts.length * w, h - height, Math.max(w / counts.length, 1), height);
    });
    context.fillStyle = style.getPropertyValue("--mark");
    for (const end of [window_.lo, window_.hi])
        context.fillRect(Math.min(Math.max(x(end) - ratio, 0), w - 2 * ratio), 0, 2 * ratio, h);
}
