
"use strict";
/* Facts about the volume (meta, JSON written by viewer.c), and its samples: a frame is [z][y][x] of bins,
 * and bin b along an axis is the mean of voxels b * join to (b + 1) * join - 1. page.c puts this
 * script into HTML pages; shown.js and controls.js call it. */
const meta = JSON.parse(document.getElementById("meta").textContent);
const AXES = [[0, 1, 2], [0, 2, 1], [1, 2, 0]]; /* axes of each plane: to the right, up, normal to the plane */
const samples = []; /* one array of numbers per frame */
const greatest = []; /* per frame three planes (xy, xz, yz) of greatest values */

async function inflate(text) {
    const letters = atob(text);
    const packed = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++)
        packed[i] = letters.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Decode numbers whose bytes are stored in planes; numbers of 16 bits are stored as differences along rows. */
function unpack(bytes, type, row) {
    const n = bytes.length / {u8: 1, u16: 2, f32: 4}[type];
    if (type === "u8")
        return bytes;
    if (type === "u16") {
        const out = new Uint16Array(n);
        for (let i = 0; i < n; i++)
            out[i] = (bytes[i] | bytes[n + i] << 8) + (i % row ? out[i - 1] : 0);
        return out;
    }
    const out = new Uint32Array(n);
    for (let i = 0; i < n; i++)
        out[i] = bytes[i] | bytes[n + i] << 8 | bytes[2 * n + i] << 16 | bytes[3 * n + i] << 24;
    return new Float32Array(out.buffer);
}

/* Decode the numbers of a <script> element, and remove the element, whose text is not needed any more. */
async function take(element, type, row) {
    const text = element.textContent;
    element.remove();
    return unpack(await inflate(text), type, row);
}

async function takeSamples(said) {
    const list = [...document.querySelectorAll("script.samples")];
    const [nx, ny, nz] = meta.bins;
    const chunks = Math.ceil(nz / meta.layers);
    for (let i = 0; i < list.length; i++) {
        const part = await take(list[i], meta.type, nx);
        const frame = Math.floor(i / chunks);
        if (i % chunks === 0)
            samples[frame] = new part.constructor(nx * ny * nz);
        samples[frame].set(part, i % chunks * meta.layers * nx * ny);
        said(i + 1, list.length);
    }
    const planes = [...document.querySelectorAll("script.greatest")];
    for (let i = 0; i < planes.length; i++) {
        const frame = Math.floor(i / 3);
        greatest[frame] = greatest[frame] || [];
        greatest[frame][i % 3] = await take(planes[i], "u16", meta.bins[AXES[i % 3][0]]);
    }
}

function valueOf(number, scale) {
    return number === scale.none ? NaN : number * scale.scale + scale.offset;
}

/* Value of the bin that contains the voxel at[]. */
function sampleAt(frame, at) {
    const b = at.map((v, a) => Math.floor(v / meta.join[a]));
    return valueOf(samples[frame][(b[2] * meta.bins[1] + b[1]) * meta.bins[0] + b[0]], meta);
}

/* Plane of bins through the voxel at[]: {w, h, join, values}, row 0 at the bottom. */
function slicePlane(frame, plane, at) {
    const [right, up, through] = AXES[plane];
    const step = [1, meta.bins[0], meta.bins[0] * meta.bins[1]];
    const w = meta.bins[right];
    const h = meta.bins[up];
    const first = Math.floor(at[through] / meta.join[through]) * step[through];
    const from = samples[frame];
    const values = new Float32Array(w * h);
    for (let j = 0, k = 0; j < h; j++)
        for (let i = 0; i < w; i++, k++)
            values[k] = valueOf(from[first + j * step[up] + i * step[right]], meta);
    return {w, h, join: [meta.join[right], meta.join[up]], values};
}

function greatestPlane(frame, plane) {
    const [right, up] = AXES[plane];
    const values = Float32Array.from(greatest[frame][plane], (v) => valueOf(v, meta.greatest));
    return {w: meta.bins[right], h: meta.bins[up], join: [meta.join[right], meta.join[up]], values};
}

/* First and last voxel, along an axis, of the bin that contains voxel v. */
function binOf(v, axis) {
    const first = Math.floor(v / meta.join[axis]) * meta.join[axis];
    return [first, Math.min(first + meta.join[axis], meta.size[axis]) - 1];
}

/* Position of the centre of voxels first to last [mm; voxels if the spacing is not known]. */
function placeOf(first, last, axis) {
    return meta.origin[axis] + meta.mm[axis] * (first + last) / 2;
}
