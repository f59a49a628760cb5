"use strict";
/* The page of `fbp tune`: controls of the settings, and slices that follow them. page.c puts this
 * script into the page after samples.js and picture.js. */
const settings = new Map(meta.settings.map((s) => [s.key, s]));
const initial = () => Object.fromEntries(meta.settings.map((s) => [s.key, s.value]));
const state = {values: initial(), at: [...meta.start], lo: 0, hi: 1, hasWindow: false, other: null,
    history: [], future: []};

/* The two rows of slices: A with the settings of the controls, B with those kept by Compare. */
const rows = ["a", "b"].map((id) => ({
    box: $(id),
    shown: "", /* query of the slices that are drawn */
    done: false, /* they contain all views */
    planes: null, /* [3] {w, h, join, values} */
    figures: [0, 1, 2].map((i) => makeFigure($(id), i)),
}));

function makeFigure(box, i) {
    const figure = document.createElement("figure");
    figure.className = "plane";
    figure.hidden = flat && i > 0;
    figure.innerHTML = `<figcaption><b>${["xy", "xz", "yz"][i]}</b> <span></span></figcaption>` +
        "<div class=\"frame\"><canvas tabindex=\"0\" role=\"img\"></canvas></div>";
    box.append(figure);
    const canvas = figure.querySelector("canvas");
    canvas.addEventListener("pointerdown", (e) => move(i, e, canvas));
    canvas.addEventListener("pointermove", (e) => e.buttons & 1 && move(i, e, canvas));
    listenToWheel(canvas, (by) => step(AXES[i][2], by));
    canvas.addEventListener("keydown", (e) => keyInPlane(i, e));
    return {figure, canvas, where: figure.querySelector("span")};
}

/* ---- Requests ---- */

function queryOf(values) {
    return meta.settings.filter((s) => values[s.key] !== s.value)
        .map((s) => `${s.key}=${values[s.key]}`).join("&");
}

/* Request a path of the server; null after a problem, which is shown. */
async function request(path) {
    try {
        const answer = await fetch(path);
        if (answer.ok) {
            problem("");
            return answer;
        }
        problem(await answer.text());
    } catch (error) {
        problem(`fbp tune does not answer (${error.message}). Is it still running?`);
    }
    return null;
}

async function slicesOf(query) {
    const answer = await request(query);
    if (!answer)
        return null;
    const bytes = await answer.arrayBuffer();
    const length = new DataView(bytes).getUint32(0, true);
    const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
    let from = 4 + length;
    facts.planes = AXES.map(([right, up], i) => {
        const w = meta.size[right];
        const h = meta.size[up];
        const numbers = new Uint16Array(bytes, from, w * h);
        const values = new Float32Array(w * h);
        for (let k = 0; k < values.length; k++) /* much faster than Float32Array.from() */
            values[k] = facts.least[i] + facts.step[i] * numbers[k];
        from += 2 * w * h;
        return {w, h, join: [1, 1], values};
    });
    return facts;
}

let busy = false;
let failed = ""; /* query that had no answer: it is not repeated */

/* Request slices until A, then B, show their settings with all views. One request is on its way at a time,
 * for the newest settings. */
async function update() {
    if (busy)
        return;
    busy = true;
    for (;;) {
        const [x, y, z] = state.at;
        const queries = [state.values, state.other].map((v) => v && `slices?x=${x}&y=${y}&z=${z}&${queryOf(v)}`);
        const i = queries.findIndex((q, k) => q && q !== failed && (q !== rows[k].shown || !rows[k].done));
        if (i < 0)
            break;
        const facts = await slicesOf(queries[i]);
        failed = facts ? "" : queries[i];
        if (facts)
            take(rows[i], queries[i], facts);
    }
    busy = false;
}

function take(row, query, facts) {
    row.shown = query;
    row.done = facts.views === facts.all;
    row.planes = facts.planes;
    if (!state.hasWindow)
        autoWindow(row);
    if (row === rows[0])
        $("status").textContent = `axis at column ${short(facts.column)}; ` +
            `${facts.views} of ${facts.all} views, ${Math.round(facts.ms)} ms` +
            (facts.read ? ", views read" : facts.filtered ? ", views filtered again" : "");
    draw();
}

/* ---- Drawing ---- */

/* Black and white at the values below and above which 0.2 % of the samples lie. */
function autoWindow(row) {
    const values = row.planes.flatMap((p, i) => flat && i > 0 ? [] : [...p.values]).filter(Number.isFinite);
    const sorted = Float32Array.from(values).sort();
    const at = (part) => sorted[Math.floor(part * (sorted.length - 1))];
    setWindow(at(0.002), at(0.998));
    state.hasWindow = true;
}

function setWindow(lo, hi) {
    if (!(hi > lo))
        return;
    [state.lo, state.hi] = [lo, hi];
    $("lo").value = short(lo);
    $("hi").value = short(hi);
    draw();
}

function draw() {
    const most = Math.max(160, innerHeight * (state.other ? 0.36 : 0.6));
    for (const row of rows.filter((r) => r.planes && !r.box.hidden)) {
        const sizes = sizesOf(row.figures.map((f) => f.figure), most);
        row.figures.filter((f) => !f.figure.hidden).forEach((f, i) => {
            const [right, up, through] = AXES[i];
            drawPlane(f.canvas, i, row.planes[i], sizes[i], state, [state.at[right], state.at[up]]);
            const place = placeOf(state.at[through], state.at[through], through);
            f.where.textContent = `${"xyz"[through]} = ${state.at[through]}, ${short(place)} mm`;
            f.canvas.setAttribute("aria-label", `${["xy", "xz", "yz"][i]}, ${f.where.textContent}`);
        });
    }
}

function move(i, event, canvas) {
    state.at = voxelUnder(canvas, i, event, state.at);
    changed();
}

function step(axis, by) {
    state.at[axis] = clamp(state.at[axis] + by, 0, meta.size[axis] - 1);
    changed();
}

function keyInPlane(i, event) {
    const m = MOVES[event.key];
    if (!m || event.ctrlKey || event.altKey || event.metaKey)
        return;
    event.preventDefault();
    step(AXES[i][m[0]], m[1] * (event.shiftKey ? 10 : 1));
}

/* ---- Settings ---- */

function makeControls() {
    const groups = new Map();
    for (const s of meta.settings) {
        if (!groups.has(s.group)) {
            const field = document.createElement("fieldset");
            field.innerHTML = `<legend>${s.group}</legend>`;
            $("settings").append(field);
            groups.set(s.group, field);
        }
        const label = document.createElement("label");
        const text = document.createElement("span");
        text.textContent = s.unit ? `${s.label} [${s.unit}]` : s.label;
        label.append(text);
        const kinds = s.names ? ["select"] : s.least === 0 && s.most === 1 && s.step === 1 ? ["checkbox"]
            : ["range", "number"];
        s.controls = kinds.map((kind) => makeControl(s, kind));
        label.append(...s.controls);
        groups.get(s.group).append(label);
    }
}

function makeControl(s, kind) {
    const c = document.createElement(kind === "select" ? "select" : "input");
    if (kind === "select") {
        s.names.forEach((name, i) => c.add(new Option(name, i)));
    } else {
        c.type = kind;
        c.min = s.least;
        c.max = s.most;
        c.step = kind === "range" ? s.step : "any";
    }
    c.dataset.key = s.key;
    if (kind !== "select")
        c.setAttribute("aria-label", s.unit ? `${s.label}, ${s.unit}` : s.label);
    c.addEventListener("input", () => {
        const v = kind === "checkbox" ? +c.checked : +c.value;
        if (c.value === "" || !(v >= s.least && v <= s.most))
            return;
        remember(s.key);
        /* the slider's steps do not contain the value of the scan file exactly */
        state.values[s.key] = Math.abs(v - s.value) < s.step / 2 && kind === "range" ? s.value : v;
        showControls(c);
        changed();
    });
    c.addEventListener("change", () => showControls());
    return c;
}

/* Show the values in all controls but `except`, in which the user types. */
function showControls(except) {
    for (const s of settings.values())
        for (const c of s.controls)
            if (c.type === "checkbox")
                c.checked = state.values[s.key] > 0;
            else if (c !== except)
                c.value = c.type === "number" ? short(state.values[s.key]) : state.values[s.key];
    $("undo").disabled = !state.history.length;
    $("redo").disabled = !state.future.length;
}

/* The last change: of which setting, and when [ms].  Changes of one setting that follow each other within
 * a second are one step of Undo. */
const last = {key: "", at: 0};

function remember(key) {
    const now = performance.now();
    const same = key && key === last.key && now - last.at < 1000;
    [last.key, last.at] = [key, now];
    if (same)
        return;
    state.history.push({...state.values});
    state.future = [];
}

function setValues(values) {
    state.values = {...values};
    last.key = "";
    showControls();
    changed();
}

function undo(from, to) {
    if (!from.length)
        return;
    to.push({...state.values});
    setValues(from.pop());
}

function changed() {
    history.replaceState(null, "", `#at=${state.at}&${queryOf(state.values)}`);
    draw();
    update();
}

/* Take settings and voxel from the address. */
function readAddress() {
    for (const part of location.hash.slice(1).split("&")) {
        const [key, text] = part.split("=");
        const s = settings.get(key);
        if (key === "at" && text.split(",").length === 3)
            state.at = text.split(",").map((v, a) => clamp(Math.floor(+v) || 0, 0, meta.size[a] - 1));
        else if (s && +text >= s.least && +text <= s.most)
            state.values[key] = +text;
    }
}

/* Settings that differ from the scan file, in words. */
function describe(values) {
    const parts = meta.settings.filter((s) => values[s.key] !== s.value).map((s) => s.names
        ? `${s.label} ${s.names[values[s.key]]}` : `${s.label} ${short(values[s.key])} ${s.unit}`.trim());
    return parts.join(", ") || "as in the scan file";
}

function compare(on) {
    state.other = on ? {...state.values} : null;
    $("compare").setAttribute("aria-pressed", String(on));
    for (const id of ["b", "b-title", "exchange"])
        $(id).hidden = !on;
    rows[1].shown = "";
    if (on && rows[0].planes) {
        Object.assign(rows[1], {shown: rows[0].shown, done: rows[0].done, planes: rows[0].planes});
        $("b-what").textContent = describe(state.other);
    }
    changed();
}

function exchange() {
    if (!state.other)
        return;
    remember("");
    const other = state.other;
    state.other = {...state.values};
    for (const key of ["shown", "done", "planes"])
        [rows[0][key], rows[1][key]] = [rows[1][key], rows[0][key]];
    $("b-what").textContent = describe(state.other);
    setValues(other);
}

/* ---- Save and run ---- */

async function save() {
    const answer = await request(`save?${queryOf(state.values)}`);
    if (!answer)
        return false;
    const [file, command] = (await answer.text()).split("\n");
    $("status").textContent = `${file} was written. This command reconstructs with these settings:`;
    $("command").textContent = command;
    $("command").hidden = false;
    return true;
}

async function run() {
    if ($("run").disabled || !await request(`run?${queryOf(state.values)}`))
        return;
    $("run").disabled = true;
    $("stop").hidden = $("progress").hidden = false;
    for (;;) {
        await new Promise((done) => setTimeout(done, 200));
        const answer = await request("progress");
        const text = answer ? await answer.text() : "failed 0\n";
        const [word, part] = text.split("\n", 1)[0].split(" ");
        $("progress").value = +part;
        if (word === "running")
            continue;
        $("run").disabled = false;
        $("stop").hidden = $("progress").hidden = true;
        if (word === "finished")
            location.assign("view/");
        else if (answer)
            problem(text.slice(text.indexOf("\n") + 1));
        return;
    }
}

const buttons = {undo: () => undo(state.history, state.future), redo: () => undo(state.future, state.history),
    reset: () => {
        remember("");
        setValues(initial());
    },
    compare: () => compare(!state.other), exchange, save, run, stop: () => request("stop"),
    auto: () => rows[0].planes && autoWindow(rows[0]), "help-button": () => $("help").showModal(),
    "help-close": () => $("help").close()};

const keys = {u: "undo", y: "redo", c: "compare", x: "exchange", s: "save", r: "run", a: "auto",
    "?": "help-button"};

function key(event) {
    const typing = event.target.matches("select, input[type=number]");
    if (event.altKey || event.metaKey || $("help").open)
        return;
    const width = state.hi - state.lo;
    const windows = {w: [width / 20, -width / 20], W: [-width / 20, width / 20],
        l: [-width / 20, -width / 20], L: [width / 20, width / 20]};
    const name = event.ctrlKey ? {z: "undo", y: "redo"}[event.key] : typing ? "" : keys[event.key];
    if (name)
        buttons[name]();
    else if (!event.ctrlKey && !typing && windows[event.key])
        setWindow(state.lo + windows[event.key][0], state.hi + windows[event.key][1]);
    else
        return;
    event.preventDefault();
}

makeControls();
readAddress();
showControls();
for (const [id, f] of Object.entries(buttons))
    $(id).addEventListener("click", f);
for (const id of ["lo", "hi"])
    $(id).addEventListener("change", () => setWindow(+$("lo").value, +$("hi").value));
$("settings").addEventListener("submit", (e) => e.preventDefault());
addEventListener("keydown", key);
addEventListener("resize", draw);
update();
