// Curves that can be read: zoom, read-out, logarithmic axis. Draws with uPlot what stands in #chart-data; the SVG stays for paper and where there is no script.
(() => {
  "use strict";
  const block = document.getElementById("chart-data");
  if (!block || typeof uPlot !== "function" || !window.IntersectionObserver) return;
  const DATA = JSON.parse(block.textContent);
  const HEIGHT = 250, FIRST_HEIGHT = 310, NEAR_PIXELS = 6, APART = 14, TICKS_APART = 3, TICKS = 5, LEAST_TICKS = 3, LARGEST = 1e300, POINT_ROOM = 9, LANE = 24, LABEL_ROW = 17;
  const COLOURS = {
    failure: "--failure", crash: "--failure", bad: "--failure", gap: "--failure", overflow: "--overflow", checkpoint: "--checkpoint", evaluation: "--evaluation",
    resumed: "--attempt", restarted: "--attempt", parting: "--evaluation",
  };
  const FILLED = new Set(["failure", "crash", "checkpoint"]);
  const FOOT = new Set(["bad", "overflow"]);
  const SHAPES = Object.fromEntries(Object.entries(DATA.shapes).map(([kind, outline]) => [kind, new Path2D(outline)]));
  const GAP = new Path2D("M-3-3L3 3M-3 3L3-3");

  // --- numbers -------------------------------------------------------------------------------------------------------------------------------------------------
  const number = (value, digits = 6) => {
    if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
    if (value !== 0 && Math.abs(value) < 1e-4) return Number(value.toPrecision(digits)).toExponential();
    const text = value.toPrecision(digits);
    return text.includes("e") ? text.replace(/\.?0+e/, "e").replace("e+", "e") : text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  };
  const raised = (power) => "2" + String(power).replace(/[-\d]/g, (digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]));
  const tick = (value, digits) => {
    const size = Math.abs(value);
    if (size >= 1e6 && size < 1e9) return number(value / 1e6, digits) + "M";
    if (size >= 1e4 && size < 1e6) return number(value / 1e3, digits) + "k";
    const short = Number(value.toPrecision(12));
    return size && size < 1e-3 ? Number(short.toPrecision(digits)).toExponential() : number(short, digits);
  };
  const whole = (places) => places.every(Number.isInteger);
  const widest = (texts) => Math.max(...texts.map((text) => text.length));
  // The labels of an axis, with as many digits as tell them apart.
  const ticks = (values) => {
    const tried = [6, 9, 12].map((digits) => values.map((value) => tick(value, digits)));
    const found = tried.find((texts) => new Set(texts).size === texts.length) ?? tried[0];
    return whole(values) && widest(found) > widest(values.map(String)) ? values.map(String) : found;
  };
  const filled = (phrase, values) => phrase.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3], [14, 4], [4, 2], [1, 4], [8, 3, 2, 3, 2, 3]];
  // A scale brings values to what is drawn; null is a gap. uPlot's axes then are linear, and their labels are brought back.
  const bounded = (value) => Math.max(-LARGEST, Math.min(LARGEST, value));
  const SCALES = {
    linear: { to: bounded, ticks: (low, high) => rounded(low, high), labels: ticks },
    log10: {
      to: (value) => (value > 0 ? Math.log10(value) : null), ticks: (low, high) => decades(low, high),
      labels: (places) => (whole(places) && places.some((power) => Math.abs(power) > 3) ? places.map((power) => `1e${power}`) : ticks(places.map((place) => Number((10 ** place).toPrecision(12))))),
    },
    log2: {
      to: (value) => (value > 0 ? Math.log2(value) : null), ticks: (low, high) => (powers(low, high).length ? powers(low, high) : mapped(low, high, 2)),
      labels: (places) => (whole(places) ? places.map(raised) : ticks(places.map((place) => Number((2 ** place).toPrecision(12))))),
    },
  };
  const powers = (low, high) => {
    const first = Math.ceil(low), last = Math.floor(high);
    const stride = Math.max(1, Math.ceil((last - first + 1) / 6));
    const found = [];
    for (let power = first; power <= last; power += stride) found.push(power);
    return found;
  };
  const rounded = (low, high) => [TICKS, TICKS + 3].map((count) => stepped(low, high, count)).find((found) => found.length > LEAST_TICKS) ?? stepped(low, high, TICKS + 3);
  const stepped = (low, high, count) => {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10);
    const first = Math.ceil(low / step - 1e-9), found = [];
    for (let index = first; index * step <= high + step * 1e-9 && index - first <= 2 * count; index += 1) found.push(index * step);
    return found;
  };
  const times = (low, high, factors) => {
    const found = [];
    for (let power = Math.floor(low); power <= high; power += 1) found.push(...factors.map((factor) => power + Math.log10(factor)));
    return found.filter((place) => place >= low && place <= high);
  };
  const mapped = (low, high, base) => rounded(base ** low, base ** high).filter((value) => value > 0).map((value) => Math.log(value) / Math.log(base));
  // Powers of ten; where these are few, some between them; within less than a decade round numbers.
  const decades = (low, high) => [powers(low, high), ...(high - low < TICKS ? [times(low, high, [1, 3]), times(low, high, [1, 2, 5])] : [])].find((found) => found.length >= LEAST_TICKS) ?? mapped(low, high, 10);

  // --- rows: the samples of all series of a panel, by place and line ---------------------------------------------------------------------------------------------
  const rowsOf = (panel) => {
    const rows = [];
    panel.tracks.forEach((track, at) => {
      const xs = DATA.pool[track.x], lines = DATA.pool[track.line], steps = track.step === null ? xs : DATA.pool[track.step];
      track.y.forEach((value, index) => rows.push({ x: xs[index], line: lines[index], step: panel.axis === "step" || track.step !== null ? steps[index] : null, at, value, odd: track.odd[index] }));
    });
    rows.sort((one, two) => one.x - two.x || (panel.processes ? 0 : one.line - two.line) || one.at - two.at);
    const found = [];
    for (const row of rows) {
      let last = found[found.length - 1];
      if (!last || last.x !== row.x || (last.line !== row.line && !panel.processes)) {
        last = { x: row.x, line: row.line, step: row.step, cells: {} };
        found.push(last);
      }
      last.cells[row.at] = row.odd ?? row.value;
      if (panel.processes) last.line = 0 in last.cells ? last.line : null;     // the line is that of the first process, or of none
    }
    return found;
  };

  // --- charts that share an axis show the same part of it --------------------------------------------------------------------------------------------------------
  const groups = new Map();
  const groupOf = (name) => groups.get(name) ?? groups.set(name, { charts: new Set(), part: null }).get(name);

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.box = figure.closest(".charts");
      this.words = JSON.parse(this.box.dataset.phrases);
      this.panel = DATA.panels[figure.dataset.panel];
      this.group = groupOf(this.panel.group);
      this.names = JSON.parse(figure.dataset.names ?? "null") ?? this.panel.tracks.map((track) => track.name);
      this.rows = rowsOf(this.panel);
      this.isLog = this.panel.scale !== "linear";
      this.row = this.start();
      this.labels = this.named();
      this.frame();
      this.draw();
      this.group.charts.add(this);
      new ResizeObserver(() => this.resize()).observe(this.plot);
    }

    // The row that the read-out shows first: the first non-finite value, else the failure, else the end.
    start() {
      const { rows, panel } = this, line = panel.bad?.[3] ?? panel.marks.find(([kind]) => kind === "failure")?.[2];
      const found = line === undefined ? -1 : rows.findIndex((row) => row.line >= line);
      return found < 0 ? rows.length - 1 : found;
    }

    // The elements around the drawing.
    frame() {
      const { words } = this;
      const title = this.figure.querySelector("h3").textContent;
      const live = element("div", "panel-live");
      const bar = element("div", "panel-bar");
      bar.setAttribute("role", "group");
      bar.setAttribute("aria-label", `${title}: ${words.bar}`);
      this.logButton = button(words.log, () => this.toggle());
      this.logButton.setAttribute("aria-pressed", String(this.isLog));
      this.inButton = button("+", () => this.zoom(0.5), words.in);
      this.outButton = button("−", () => this.zoom(2), words.out);
      this.resetButton = button(words.reset, () => this.show(null));
      bar.append(this.inButton, this.outButton, this.resetButton);
      if (this.panel.near) bar.append(button(words.near, () => this.show(this.panel.near)));
      if (this.panel.scale !== "log2" && this.panel.tracks.some((track) => track.y.some((value) => value > 0))) bar.append(this.logButton);
      this.note = element("span", "panel-note");
      bar.append(this.note);
      this.read = element("div", "panel-read");
      this.plot = element("div", "panel-plot");
      this.plot.tabIndex = 0;
      this.plot.setAttribute("role", "application");
      this.plot.setAttribute("aria-roledescription", words.live);
      this.plot.setAttribute("aria-label", title);
      const hint = element("p", "hidden");
      hint.id = `${this.figure.getAttribute("aria-labelledby")}-hint`;
      hint.textContent = words.hint;
      this.plot.setAttribute("aria-describedby", hint.id);
      this.plot.addEventListener("keydown", (event) => this.key(event));
      this.said = element("p", "hidden");
      this.said.setAttribute("aria-live", "polite");
      live.append(this.plot, this.read, hint, this.said);
      this.figure.querySelector("figcaption").append(bar);
      this.figure.querySelector(".panel-static").after(live);
      this.figure.classList.add("is-live");
      this.box.classList.add("is-live");
    }

    colour(name) {
      return getComputedStyle(this.figure).getPropertyValue(name).trim() || "#888";
    }

    scaleOf(at) {
      const isRight = this.panel.tracks.length > 1 && this.panel.tracks[at].form === "steps";
      if (isRight || this.panel.scale === "log2") return "log2";
      return this.isLog ? "log10" : "linear";
    }

    // Build uPlot anew: the axis, the colours or the language have changed.
    draw() {
      this.chart?.destroy();
      this.ink = { soft: this.colour("--soft"), grid: this.colour("--grid"), card: this.colour("--card") };
      this.marks = Object.fromEntries(Object.entries(COLOURS).map(([kind, name]) => [kind, this.colour(name)]));
      const columns = this.panel.tracks.map((_, at) => this.column(at));
      this.chart = new uPlot(this.options(), [this.rows.map((row) => row.x), ...columns], this.plot);
      const dropped = this.panel.tracks.reduce((sum, track, at) => sum + (this.scaleOf(at) === "linear" ? 0 : track.y.filter((value) => value !== null && value <= 0).length), 0);
      this.note.textContent = dropped ? filled(this.words["left-out"], { count: dropped }) : "";
      this.buttons();
      this.tell();
    }

    column(at) {
      const { to } = SCALES[this.scaleOf(at)];
      return this.rows.map(({ cells }) => (at in cells ? (typeof cells[at] === "number" ? to(cells[at]) : null) : undefined));
    }

    options() {
      const { panel } = this;
      const hasRight = panel.tracks.some((_, at) => this.isRight(at));
      this.font = getComputedStyle(this.figure).fontFamily;
      const font = `12px ${this.font}`;
      const axis = { stroke: this.ink.soft, font, ticks: { stroke: this.ink.grid, size: 5 }, grid: { stroke: this.ink.grid, width: 1 } };
      const upright = (scale, side) => ({
        ...axis, scale, side, size: (chart, labels) => 14 + Math.max(16, ...(labels ?? []).map((label) => this.width(label, font))),
        splits: (chart, _, low, high) => SCALES[this.scaleName(scale)].ticks(low, high),
        values: (chart, splits) => SCALES[this.scaleName(scale)].labels(splits), grid: { ...axis.grid, show: side === 3 },
      });
      const isWhole = panel.tracks.every((track) => whole(DATA.pool[track.x]));
      return {
        width: this.plot.clientWidth || 320, height: this.box.firstElementChild === this.figure ? FIRST_HEIGHT : HEIGHT,
        padding: [LANE + LABEL_ROW * this.labels.length, hasRight ? 4 : 18, 0, 4], legend: { show: false },
        scales: { x: { time: false, range: () => this.group.part ?? this.whole() }, y: { range: padded }, right: { range: padded } },
        axes: [
          { ...axis, space: 64, size: 30, label: this.words[panel.axis], labelFont: font, labelSize: 18, labelGap: 0, incrs: isWhole ? increments.filter(Number.isInteger) : increments, values: (chart, splits) => ticks(splits) },
          upright("y", 3), ...(hasRight ? [upright("right", 1)] : []),
        ],
        series: [{}, ...panel.tracks.map((track, at) => this.line(track, at))],
        cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: 4 }, points: { size: 9, width: 2, fill: this.ink.card }, bind: { dblclick: () => () => this.show(null) } },
        hooks: { draw: [(chart) => this.mark(chart)], setCursor: [(chart) => this.point(chart)], setSelect: [(chart) => this.select(chart)] },
      };
    }

    isRight(at) {
      return this.panel.tracks.length > 1 && this.panel.tracks[at].form === "steps";
    }

    scaleName(scale) {
      if (scale === "right" || this.panel.scale === "log2") return "log2";
      return this.isLog ? "log10" : "linear";
    }

    width(label, font) {
      const pen = this.pen ??= document.createElement("canvas").getContext("2d");
      pen.font = font;
      return pen.measureText(label).width;
    }

    line(track, at) {
      const stroke = this.colour(track.form === "thin" ? "--grid" : `--series-${at}`), style = track.form.match(/^dash-(\d)$/);
      const isAlone = (chart, index) => chart.data[at + 1][index] != null && neighbour(chart.data[at + 1], index, -1) == null && neighbour(chart.data[at + 1], index, 1) == null;
      const isRoomy = (chart) => (chart.series[0].idxs[1] - chart.series[0].idxs[0]) * POINT_ROOM < chart.over.clientWidth;
      const alone = (chart) => chart.data[at + 1].flatMap((_, index) => (isAlone(chart, index) ? [index] : []));
      return {
        label: track.name, scale: this.isRight(at) ? "right" : "y", stroke, width: track.form === "points" ? 0 : track.form === "odd" ? 3 : track.y.length > 200 ? 1.3 : 1.8, spanGaps: false,
        dash: track.form === "dashes" ? [6, 4] : style ? DASHES[style[1]] : undefined,
        paths: track.form === "steps" ? uPlot.paths.stepped({ align: 1 }) : track.form === "points" ? () => null : uPlot.paths.linear(),
        points: { size: track.form === "points" ? 8 : 5, stroke, fill: stroke, show: true, filter: (chart) => (track.form === "thin" || style ? alone(chart) : track.form === "points" || isRoomy(chart) ? null : alone(chart)) },
      };
    }

    whole() {
      const [low, high] = this.panel.range;
      const room = (high - low) * 0.01;
      return [low - room, high + room];
    }

    // --- zoom ---------------------------------------------------------------------------------------------------------------------------------------------------
    show(part) {
      let shown = part;
      if (shown) {
        const [first, last] = this.whole(), least = (last - first) * 1e-6;
        const low = Math.max(first, Math.min(shown[0], last)), high = Math.min(last, Math.max(shown[1], first));
        if (high - low < least) return;
        shown = low <= first && high >= last ? null : [low, high];
      }
      this.group.part = shown;
      for (const chart of this.group.charts) {
        const [low, high] = shown ?? chart.whole();
        chart.chart.setScale("x", { min: low, max: high });
        chart.buttons();
      }
    }

    buttons() {
      this.resetButton.disabled = this.outButton.disabled = !this.group.part;
    }

    zoom(factor) {
      const { min, max } = this.chart.scales.x;
      const x = Math.min(max, Math.max(min, this.rows[this.row].x));
      const share = (x - min) / (max - min), span = (max - min) * factor;
      this.show([x - span * share, x + span * (1 - share)]);
    }

    pan(share) {
      if (!this.group.part) return;
      const [first, last] = this.whole(), { min, max } = this.chart.scales.x;
      const shift = Math.max(first - min, Math.min(last - max, (max - min) * share));
      this.show([min + shift, max + shift]);
    }

    select(chart) {
      const { left, width } = chart.select;
      if (width < 4) return;
      chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      this.show([chart.posToVal(left, "x"), chart.posToVal(left + width, "x")]);
    }

    toggle() {
      this.isLog = !this.isLog;
      this.logButton.setAttribute("aria-pressed", String(this.isLog));
      this.draw();
    }

    resize() {
      const width = this.plot.clientWidth;
      if (width && width !== this.chart.width) this.chart.setSize({ width, height: this.chart.height });
    }

    // --- read-out -----------------------------------------------------------------------------------------------------------------------------------------------
    point(chart) {
      if (chart.cursor.left < 0 || chart.cursor.idx == null || this.isTold) return;
      this.row = chart.cursor.idx;
      this.tell();
      const x = chart.posToVal(chart.cursor.left, "x");
      for (const other of this.group.charts) if (other !== this) other.follow(x);
    }

    // Another chart of the group points at a place.
    follow(x) {
      if (!this.plot.offsetParent) return;
      this.isTold = true;
      this.row = nearest(this.rows, x);
      this.chart.setCursor({ left: this.chart.valToPos(x, "x"), top: 0 });
      this.isTold = false;
      this.tell();
    }

    // Go to a row by keyboard, and say it.
    go(row) {
      this.row = Math.max(0, Math.min(this.rows.length - 1, row));
      const { x } = this.rows[this.row], { min, max } = this.chart.scales.x;
      if (x < min || x > max) this.show([x - (max - min) / 2, x + (max - min) / 2]);
      this.isTold = true;
      this.chart.setCursor({ left: this.chart.valToPos(x, "x"), top: 0 });
      this.isTold = false;
      this.tell();
      for (const other of this.group.charts) if (other !== this) other.follow(x);
      this.said.textContent = this.texts().map(({ text }) => text).join(this.words.joint);
    }

    // What stands at the cursor, in words: place, values, line, marks.
    texts() {
      const { words, rows } = this, row = rows[this.row];
      const found = [];
      if (this.panel.axis === "record") found.push({ text: filled(words["at-record"], { value: number(row.x) }) });
      if (row.step !== null) found.push({ text: filled(words["at-step"], { value: number(row.step) }) });
      this.panel.tracks.forEach((track, at) => {
        const value = this.panel.processes ? row.cells[at] ?? null : this.held(at), name = this.names[at];
        if (value === null || name === undefined) return;
        found.push({ text: `${name} ${typeof value === "number" ? number(value) + (track.unit ? ` ${track.unit}` : "") : value}`, name, at, isOdd: typeof value !== "number" });
      });
      if (row.line !== null) found.push({ text: filled(words["at-line"], { value: row.line }), line: row.line });
      for (const [kind, , line] of this.around(row.x)) {
        const [name, value] = kind === "bad" ? this.panel.bad : [];
        const said = [name ? `${name} ${value}` : "", line === row.line ? "" : filled(words["at-line"], { value: line })].filter(Boolean).join(words.joint);
        found.push({ text: [words[`mark.${kind}`], ...(said ? [said] : [])].join(words.colon), line: line === row.line ? undefined : line });
      }
      return found;
    }

    // The value of a series at the cursor, or the last one before it.
    held(at) {
      for (let index = this.row; index >= 0; index -= 1) if (at in this.rows[index].cells) return this.rows[index].cells[at];
      return null;
    }

    // The marks beside a place, one of each kind.
    around(x) {
      const [low, high] = this.group.part ?? this.whole(), near = (high - low) * NEAR_PIXELS / (this.plot.clientWidth || 320), seen = new Set();
      return this.panel.marks.filter(([kind, place]) => Math.abs(place - x) <= near && !seen.has(kind) && seen.add(kind));
    }

    tell() {
      this.read.replaceChildren(...this.texts().map(({ text, line, at, name, isOdd }) => {
        const anchor = line === undefined ? null : document.getElementById(`${this.box.dataset.language}-${this.panel.source}-L${line}`);
        const item = element(anchor ? "a" : "span", at === undefined ? "" : `read-${at}`);
        if (anchor) item.href = `#${anchor.id}`;
        if (isOdd) item.classList.add("is-odd");
        if (name === undefined) item.textContent = text;
        else {
          const bold = element("b", "");
          bold.textContent = name;
          item.append(bold, text.slice(name.length));
        }
        return item;
      }));
    }

    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const at = this.row, far = Math.max(1, Math.round(this.rows.length / 20));
      const move = { ArrowLeft: () => this.go(at - 1), ArrowRight: () => this.go(at + 1), PageUp: () => this.go(at - far), PageDown: () => this.go(at + far), Home: () => this.go(0), End: () => this.go(this.rows.length - 1) };
      const pan = { ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25) };
      const other = { "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.show(null), Escape: () => this.show(null), l: () => this.logButton.isConnected && this.toggle() };
      const act = (event.shiftKey && pan[event.key]) || move[event.key] || other[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    }

    // --- marks --------------------------------------------------------------------------------------------------------------------------------------------------
    mark(chart) {
      const pen = chart.ctx, ratio = uPlot.pxRatio, { left, top, width, height } = chart.bbox;
      const at = (x) => chart.valToPos(x, "x", true), isIn = (x) => x >= left - 1 && x <= left + width + 1;
      const put = (shape, x, y, kind) => {
        pen.save();
        pen.translate(x, y);
        pen.scale(ratio, ratio);
        pen.strokeStyle = pen.fillStyle = this.marks[kind];
        pen.lineWidth = kind === "overflow" ? 2 : 1.8;
        pen.lineJoin = "round";
        if (FILLED.has(kind)) pen.fill(shape);
        pen.stroke(shape);
        pen.restore();
      };
      pen.save();
      pen.font = `600 ${12 * ratio}px ${this.font}`;
      pen.textBaseline = "middle";
      pen.lineJoin = "round";
      this.gaps(at, isIn, (x, isAbove) => put(GAP, x, isAbove ? top + 7 * ratio : top + height - 6 * ratio, "gap"));
      const last = {};
      for (const [kind, place] of this.panel.marks) {
        const x = Math.round(at(place));
        if (!isIn(x) || Math.abs((last[kind] ?? -Infinity) - x) < (kind === "overflow" ? TICKS_APART : APART) * ratio) continue;
        last[kind] = x;
        if (DATA.standing.includes(kind)) this.stand(pen, x, top - this.headOf(kind) * ratio, top + height, kind);
        put(SHAPES[kind], x, FOOT.has(kind) ? top + height - 6 * ratio : top - 12 * ratio, kind);
      }
      this.labels.forEach(({ x, text }, row) => isIn(at(x)) && this.label(pen, at(x), top - (LANE + (row + 0.5) * LABEL_ROW) * ratio, text, left + width / 2));
      pen.restore();
    }

    // What is named above the drawing: the failure, and the first non-finite value where it is another line.
    named() {
      const { bad, marks } = this.panel, { words } = this, found = [];
      const failure = marks.find(([kind]) => kind === "failure"), first = marks.find(([kind]) => kind === "bad");
      if (failure && failure[2] !== bad?.[3]) found.push({ kind: "failure", x: failure[1], text: words["mark.failure"] });
      if (bad && first) {
        const [of, value, step, line] = bad, name = this.panel.processes ? this.names[0] : of;
        const place = [step === null ? "" : filled(words["at-step"], { value: number(step) }), filled(words["at-line"], { value: line })];
        found.push({ kind: "bad", x: first[1], text: `${name ? `${name} ` : ""}${value} · ${place.filter(Boolean).join(words.joint)}` });
      }
      const middle = (this.panel.range[0] + this.panel.range[1]) / 2, height = ({ x }) => (x > middle ? x : -x);
      return found.sort((one, two) => height(one) - height(two));     // no label crosses another's line
    }

    // A label stands beside its line, on the side with more room, and never leaves the canvas.
    label(pen, x, y, text, middle) {
      const room = 5 * uPlot.pxRatio, wide = pen.measureText(text).width;
      const left = Math.max(room, Math.min(x > middle ? x - room - wide : x + room, pen.canvas.width - wide - room));
      pen.textAlign = "left";
      pen.strokeStyle = this.ink.card;
      pen.lineWidth = 4 * uPlot.pxRatio;
      pen.strokeText(text, left, y);
      pen.fillStyle = this.marks.failure;
      pen.fillText(text, left, y);
    }

    // How far above the drawing the line of a mark begins.
    headOf(kind) {
      const row = this.labels.findIndex((label) => label.kind === kind);
      return row < 0 ? 8 : LANE + (row + 1) * LABEL_ROW;
    }

    stand(pen, x, from, to, kind) {
      pen.beginPath();
      pen.strokeStyle = this.marks[kind];
      pen.lineWidth = 1.5 * uPlot.pxRatio;
      pen.setLineDash(kind === "crash" ? [] : [4 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
      pen.moveTo(x, from);
      pen.lineTo(x, to);
      pen.stroke();
      pen.setLineDash([]);
    }

    gaps(at, isIn, put) {
      const last = {};
      for (const row of this.rows) {
        for (const [track, value] of Object.entries(row.cells)) {
          if (typeof value === "number" || this.panel.tracks[track].form === "thin") continue;
          const x = at(row.x), isAbove = value === "inf";
          if (!isIn(x) || Math.abs((last[isAbove] ?? -Infinity) - x) < 7 * uPlot.pxRatio) continue;
          last[isAbove] = x;
          put(x, isAbove);
        }
      }
    }
  }

  // --- small helpers ---------------------------------------------------------------------------------------------------------------------------------------------
  const increments = Array.from({ length: 36 }, (_, power) => [1, 2, 5].map((factor) => Number(`${factor}e${power - 18}`))).flat();
  function padded(chart, low, high) {
    if (low == null) return [0, 1];
    const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    return [low - room, high + room];
  }
  function neighbour(column, index, way) {
    let at = index + way;
    while (column[at] === undefined && at >= 0 && at < column.length) at += way;
    return column[at];
  }
  function nearest(rows, x) {
    let low = 0, high = rows.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].x < x) low = middle + 1;
      else high = middle;
    }
    return low > 0 && x - rows[low - 1].x <= rows[low].x - x ? low - 1 : low;
  }
  function element(name, kind) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    return made;
  }
  function button(text, act, label) {
    const made = element("button", "");
    made.type = "button";
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    if (label) made.title = label;
    made.addEventListener("click", act);
    return made;
  }

  // --- start: a chart is built when it comes into view, the others of its article when the browser has nothing else to do: then a link lands where it aims --------------
  const charts = [], waiting = new Set(document.querySelectorAll(".charts .panel"));
  const build = (figure) => {
    if (!waiting.delete(figure)) return;
    watcher.unobserve(figure);
    charts.push(new Chart(figure));
  };
  const watcher = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => isIntersecting && build(target)), { rootMargin: "300px" });
  const idle = window.requestIdleCallback ?? ((act) => setTimeout(act, 30));
  const next = () => {
    const figure = [...waiting].find((one) => one.offsetParent);
    if (!figure) return;
    build(figure);
    idle(next);
  };
  for (const box of document.querySelectorAll(".charts")) box.classList.add("is-live");
  for (const figure of waiting) watcher.observe(figure);
  idle(next);
  document.addEventListener("languagechange", () => idle(next));
  const recolour = () => charts.forEach((chart) => chart.draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  document.addEventListener("themechange", recolour);
})();
