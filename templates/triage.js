// The table of all jobs: filtered, sorted, and only the rows in view are in the document. Names and messages become text nodes, never markup.
(() => {
  "use strict";
  const box = document.getElementById("triage-data");
  if (!box) return;
  const data = JSON.parse(box.textContent);
  const { rows, causes, groups, states, users, nodes } = data;
  const ID = 0, TITLE = 1, STATE = 2, CAUSE = 3, SURE = 4, GROUP = 5, USER = 6, NODES = 7, HOURS = 8, END = 9, REASON = 10, REPORT = 11;
  const NONE = "none", OVER = 6, PAPER = 200;
  const judged = states.indexOf("judged");
  const open = causes.indexOf(NONE);
  const counted = new Intl.NumberFormat("en-US");
  const listOf = (value) => (value === -1 ? [] : typeof value === "number" ? [value] : value);
  const fill = (phrase, values) => phrase.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const hours = (value) => {
    if (value === null) return "–";
    if (value > 0 && value < 0.01) return "<0.01";
    return value.toLocaleString("en-US", value >= 100 || value === 0 ? { maximumFractionDigits: 0 } : { minimumFractionDigits: value >= 1 ? 1 : 2, maximumFractionDigits: value >= 1 ? 1 : 2 });
  };
  const time = (value) => (value === null ? "–" : typeof value === "string" ? value : new Date(value * 1000).toISOString().slice(0, 16).replace("T", " "));
  const named = (row) => row[TITLE] || row[ID];
  const causeOf = (row) => (row[CAUSE] === -1 && row[STATE] === judged ? open : row[CAUSE]);

  // What is asked for: the same in every language, and in the address.
  const FIELDS = ["text", "cause", "group", "state", "node", "user", "sort"];
  const NOTHING = Object.fromEntries(FIELDS.map((name) => [name, ""]));
  const asked = { ...NOTHING };
  let texts = null;    // of the language that is shown
  let view = [];    // indexes of rows, filtered and in order
  let parts = null;    // elements of the table that is shown
  const active = { row: -1, cell: 0 };

  // Sorting: each order is worked out once, and filtering walks along it. What is not known stands last.
  const padded = (text) => text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(14, "0"));
  const places = (pool) => {
    const keys = pool.map(padded);
    const order = keys.map((_, index) => index).sort((one, other) => (keys[one] < keys[other] ? -1 : keys[one] > keys[other] ? 1 : 0));
    const at = [];
    order.forEach((index, place) => { at[index] = place; });
    return (index) => (index === undefined || index === -1 ? null : at[index]);
  };
  const KEYS = {
    job: () => (row) => padded(named(row)),
    what: () => { const at = places(texts.causes); return (row) => at(causeOf(row)) ?? causes.length + row[STATE]; },
    group: () => (row) => (row[GROUP] === -1 ? null : row[GROUP]),
    node: () => { const at = places(nodes); return (row) => at(listOf(row[NODES])[0]); },
    user: () => { const at = places(users); return (row) => at(row[USER]); },
    hours: () => (row) => row[HOURS],
    end: () => (row) => (typeof row[END] === "number" ? row[END] : null),
  };
  const COLUMNS = [["job", "job"], ["what", "what"], ["group", "group"], ["node", "node"], ["user", "user.column"], ["hours", "hours.short"], ["end", "ended"], ["", "report.column"]];
  const orders = new Map();
  const orderOf = (name, language) => {
    const kept = name === "what" ? `${name} ${language}` : name;
    if (!orders.has(kept)) {
      const key = KEYS[name]();
      const keys = rows.map(key);
      const known = [], unknown = [];
      keys.forEach((value, index) => (value === null ? unknown : known).push(index));
      known.sort((one, other) => (keys[one] < keys[other] ? -1 : keys[one] > keys[other] ? 1 : one - other));
      orders.set(kept, { known, unknown });
    }
    return orders.get(kept);
  };
  const ordered = (language) => {
    const name = asked.sort.replace(/^-/, "");
    if (!Object.hasOwn(KEYS, name)) return null;
    const { known, unknown } = orderOf(name, language);
    return [...(asked.sort.startsWith("-") ? known.toReversed?.() ?? [...known].reverse() : known), ...unknown];
  };

  // Filtering: a test for each field that is asked for; what is searched is put together once for a language.
  let searched = { language: "", of: [], told: null };
  const spoken = (language) => {
    if (searched.language === language) return searched;
    const lower = (pool) => pool.map((one) => one.toLowerCase());
    const [titles, ids, whats, which, whose, on, why] = [texts.causes, causes, texts.groups, groups, users, nodes, texts.reasons].map(lower);
    const standing = states.map((one) => (texts.words[`state.${one}`] ?? one).toLowerCase());
    const at = (pool, index) => (index === -1 ? "" : pool[index]);
    const told = (row) => {
      const cause = causeOf(row);
      return [row[ID].toLowerCase(), row[TITLE].toLowerCase(), at(titles, cause), at(ids, cause), at(whats, row[GROUP]), at(which, row[GROUP]), at(whose, row[USER]), ...listOf(row[NODES]).map((node) => on[node]), at(why, row[REASON]), row[STATE] === judged ? "" : standing[row[STATE]]].join("\n");
    };
    searched = { language, of: [], told };
    return searched;
  };
  const hay = (language) => {
    const { of, told } = spoken(language);
    while (of.length < rows.length) of.push(told(rows[of.length]));
    return of;
  };
  const prepare = (deadline) => {    // while nothing else is to be done, so that the first search is as fast as the others
    const { of, told } = spoken(parts.language);
    while (of.length < rows.length && deadline.timeRemaining() > 1) for (let more = 0; more < 100 && of.length < rows.length; more++) of.push(told(rows[of.length]));
    if (of.length < rows.length) whenIdle();
  };
  const whenIdle = () => globalThis.requestIdleCallback?.(prepare);
  const fitting = (pool, wanted) => {    // one of these names, or all that hold what was typed
    const exact = pool.indexOf(wanted);
    const low = wanted.toLowerCase();
    return exact !== -1 ? new Set([exact]) : new Set(pool.keys().filter?.((index) => pool[index].toLowerCase().includes(low)) ?? [...pool.keys()].filter((index) => pool[index].toLowerCase().includes(low)));
  };
  const tests = (language) => {
    const found = [];
    if (asked.cause) { const index = causes.indexOf(asked.cause); found.push((row) => causeOf(row) === index && index !== -1); }
    if (asked.group) { const index = groups.indexOf(asked.group); found.push((row) => row[GROUP] === index && index !== -1); }
    if (asked.state) { const index = states.indexOf(asked.state); found.push((row) => row[STATE] === index); }
    if (asked.user) { const fits = fitting(users, asked.user); found.push((row) => fits.has(row[USER])); }
    if (asked.node) { const fits = fitting(nodes, asked.node); found.push((row) => (typeof row[NODES] === "number" ? fits.has(row[NODES]) : row[NODES].some((node) => fits.has(node)))); }
    const wanted = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length) { const of = hay(language); found.push((_, index) => wanted.every((word) => of[index].includes(word))); }
    return found;
  };
  const choose = (language) => {
    const all = tests(language);
    const order = ordered(language);
    const next = [];
    for (let place = 0; place < rows.length; place++) {
      const index = order ? order[place] : place;
      if (all.every((test) => test(rows[index], index))) next.push(index);
    }
    view = next;
  };

  // The address: #jobs?cause=…&node=…&sort=-hours
  const fragment = () => {
    const told = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
    return `#jobs${told.size || told.toString() ? `?${told}` : ""}`;
  };
  const isOurs = () => /^#jobs(?:\?|$)/.test(location.hash);
  const fromAddress = () => {
    const told = new URLSearchParams(location.hash.slice("#jobs?".length));
    for (const name of FIELDS) asked[name] = told.get(name) ?? "";
  };
  let later = 0;
  const toAddress = () => {
    clearTimeout(later);
    later = setTimeout(() => { try { history.replaceState(history.state, "", fragment()); } catch { /* the filter works without the address */ } }, 150);
  };

  const make = (tag, attributes = {}, ...inner) => {
    const one = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) one.setAttribute(name, value);
    one.append(...inner);
    return one;
  };
  const picker = (field, value, text, title = "") => {
    const one = make("button", { type: "button", tabindex: "-1", class: "pick", "data-field": field, "data-value": value, title: title || null });
    one.append(make("bdi", {}, text));
    return one;
  };
  const soft = (text) => make("span", { class: "soft", title: text }, text);

  // One row: its cells, each with what a click or Enter does there.
  const cells = (row) => {
    const words = texts.words;
    const cause = causeOf(row);
    const job = make("bdi", { title: named(row) }, named(row));
    const what = cause !== -1
      ? [picker("cause", causes[cause], texts.causes[cause], texts.causes[cause])]
      : [picker("state", states[row[STATE]], row[STATE] === judged ? words.unnamed : words[`state.${states[row[STATE]]}`] ?? states[row[STATE]])];
    const why = row[REASON] !== -1 ? texts.reasons[row[REASON]] : cause !== -1 && causes[cause] !== NONE ? `${causes[cause]}${row[SURE] === -1 ? "" : ` · ${row[SURE] > 99 ? ">99" : row[SURE] < 1 ? "<1" : row[SURE]}%`}` : "";
    if (why) what.push(soft(why));
    const on = listOf(row[NODES]).map((node) => nodes[node]);
    const where = on.length ? [picker("node", on[0], on[0], on.join(", "))] : ["–"];
    if (on.length > 1) where.push(soft(`+${on.length - 1}`));
    if (on.length > 1) where[1].title = on.slice(1).join(", ");
    const href = row[REPORT] === 1 ? data.hrefs[row[GROUP]] : row[REPORT] || (row[GROUP] === -1 ? "" : data.hrefs[row[GROUP]]);
    const isOwn = row[REPORT] !== 0 && (row[REPORT] !== 1 || data.examples[row[GROUP]] === row[ID]);
    return [
      row[TITLE] ? [job, soft(row[ID])] : [job],
      what,
      row[GROUP] === -1 ? ["–"] : [picker("group", groups[row[GROUP]], groups[row[GROUP]], texts.groups[row[GROUP]])],
      where,
      row[USER] === -1 ? ["–"] : [picker("user", users[row[USER]], users[row[USER]])],
      [make("span", {}, hours(row[HOURS]))],
      [make("span", {}, time(row[END]))],
      href ? [make("a", { href, tabindex: "-1" }, isOwn ? words["report.job"] : words["report.group"])] : ["–"],
    ];
  };
  const drawn = (place) => {
    const row = rows[view[place]];
    const one = make("div", { role: "row", "aria-rowindex": place + 2 });
    cells(row).forEach((inner, at) => {
      const cell = make("div", { role: "gridcell", "aria-colindex": at + 1, class: `cell-${at}${at === 5 ? " figure" : ""}`, id: `${parts.language}-cell-${place}-${at}` }, ...inner);
      if (at === 5) cell.dataset.unit = texts.words["hours.short"];
      one.append(cell);
    });
    one.style.transform = `translateY(${place * parts.height}px)`;
    return one;
  };

  // Only the rows in view, and a few on either side.
  const draw = (isNew = false) => {
    if (!parts) return;
    const { grid, body, kept, height } = parts;
    const isPaper = parts.isPaper;
    if (isNew) { body.replaceChildren(); kept.clear(); }
    const first = isPaper ? 0 : Math.max(0, Math.floor(grid.scrollTop / height) - OVER);
    const last = isPaper ? Math.min(view.length, PAPER) : Math.min(view.length, Math.ceil((grid.scrollTop + grid.clientHeight) / height) + OVER);
    for (const [place, one] of kept) if (place < first || place >= last) { one.remove(); kept.delete(place); }
    let before = null;
    for (let place = last - 1; place >= first; place--) {
      let one = kept.get(place);
      if (!one) { one = drawn(place); kept.set(place, one); body.insertBefore(one, before); }
      before = one;
    }
    mark();
  };
  const mark = () => {
    const { grid, body, language } = parts;
    body.querySelector(".is-active")?.classList.remove("is-active");
    const cell = active.row < 0 ? null : document.getElementById(`${language}-cell-${active.row}-${active.cell}`);
    if (cell) { cell.classList.add("is-active"); grid.setAttribute("aria-activedescendant", cell.id); } else grid.removeAttribute("aria-activedescendant");
  };
  const go = (row, cell) => {
    if (!view.length) return;
    active.row = Math.min(view.length - 1, Math.max(0, row));
    active.cell = Math.min(COLUMNS.length - 1, Math.max(0, cell));
    const { grid, head, height } = parts;
    const top = active.row * height, room = grid.clientHeight - head.offsetHeight;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + height > grid.scrollTop + room) grid.scrollTop = top + height - room;
    draw();
    const shown = document.getElementById(`${parts.language}-cell-${active.row}-${active.cell}`);
    if (shown && grid.scrollWidth > grid.clientWidth) {
      const left = shown.offsetLeft, right = left + shown.offsetWidth;
      if (left < grid.scrollLeft) grid.scrollLeft = left;
      else if (right > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = right - grid.clientWidth;
    }
  };
  const pressed = (event) => {
    if (event.target !== parts.grid || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((parts.grid.clientHeight - parts.head.offsetHeight) / parts.height) - 1);
    const { row, cell } = active;
    const moves = {
      ArrowDown: [row + 1, cell], ArrowUp: [row < 0 ? 0 : row - 1, cell], ArrowRight: [Math.max(0, row), cell + 1], ArrowLeft: [Math.max(0, row), cell - 1],
      PageDown: [row + page, cell], PageUp: [row - page, cell],
      Home: event.ctrlKey ? [0, 0] : [Math.max(0, row), 0], End: event.ctrlKey ? [view.length - 1, COLUMNS.length - 1] : [Math.max(0, row), COLUMNS.length - 1],
    };
    if (Object.hasOwn(moves, event.key)) { event.preventDefault(); go(...moves[event.key]); }
    else if (event.key === "Enter" && row >= 0) { event.preventDefault(); go(row, cell); document.getElementById(`${parts.language}-cell-${row}-${cell}`)?.querySelector("button, a")?.click(); }
  };

  // After each change: what fits, how many these are, the address, the form.
  const refresh = ({ isKept = false } = {}) => {
    choose(parts.language);
    active.row = -1;
    parts.body.style.height = `${view.length * parts.height}px`;
    parts.body.hidden = !view.length;
    parts.nothing.hidden = view.length > 0;
    parts.grid.setAttribute("aria-rowcount", view.length + 1);
    parts.grid.scrollTop = 0;
    tellCount();
    for (const [name, input] of Object.entries(parts.inputs)) {
      if (input.value !== asked[name]) {
        if (input.tagName === "SELECT" && ![...input.options].some((one) => one.value === asked[name])) input.append(make("option", { value: asked[name] }, asked[name]));
        input.value = asked[name];
      }
      input.classList.toggle("is-set", name !== "sort" && asked[name] !== "");
    }
    parts.heads.forEach((one, at) => {
      const name = COLUMNS[at][0];
      if (name) one.setAttribute("aria-sort", asked.sort === name ? "ascending" : asked.sort === `-${name}` ? "descending" : "none");
    });
    parts.reset.disabled = FIELDS.every((name) => !asked[name]);
    draw(true);
    if (!isKept) toAddress();
  };
  const tellCount = () => {
    const words = texts.words;
    let sum = 0, known = 0;
    for (const index of view) if (rows[index][HOURS] !== null) { sum += rows[index][HOURS]; known++; }
    const told = [fill(words.shown, { shown: counted.format(view.length), jobs: counted.format(rows.length) })];
    if (known) told.push(fill(words[known === view.length ? "shown.hours" : "shown.known"], { hours: hours(sum), count: counted.format(known) }));
    if (parts.isPaper && view.length > PAPER) told.push(fill(words.paper, { shown: counted.format(PAPER) }));
    parts.status.textContent = told.join(" · ");
  };
  const ask = (changes, { isNew = false } = {}) => {
    Object.assign(asked, changes);
    if (isNew && fragment() !== location.hash) {    // a step that Back takes back
      clearTimeout(later);
      try { history.pushState(null, "", fragment()); } catch { /* the filter works without the address */ }
      refresh({ isKept: true });
    } else refresh();
  };
  const bring = () => parts.host.closest("section").scrollIntoView({ block: "start", behavior: "instant" });

  const field = (name, words, input, label) => {
    input.name = name;
    parts.inputs[name] = input;
    return make("label", { class: name }, label, input);
  };
  const select = (options) => {
    const one = make("select");
    one.append(...options.map(([value, text]) => make("option", { value }, text)));
    return one;
  };
  const typed = (pool, id) => {
    const list = make("datalist", { id });
    const input = make("input", { type: "text", list: id, autocomplete: "off", spellcheck: "false" });
    input.addEventListener("focus", () => { if (!list.children.length) list.append(...[...pool].sort((one, other) => (padded(one) < padded(other) ? -1 : 1)).map((value) => make("option", { value }))); }, { once: true });
    return [input, list];
  };
  const tally = (column, of = (row) => row[column]) => {
    const found = new Map();
    for (const row of rows) found.set(of(row), (found.get(of(row)) ?? 0) + 1);
    return found;
  };
  const tallies = { cause: tally(CAUSE, causeOf), group: tally(GROUP), state: tally(STATE) };
  const short = (text, limit = 60) => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);
  const form = (words, language) => {
    const any = ["", words.any];
    const counts = (pool, name, label) => [any, ...pool.map((value, index) => [value, index]).filter(([, index]) => tallies[name].has(index)).map(([value, index]) => [value, `${short(label(index))} (${counted.format(tallies[name].get(index))})`])];
    const one = make("form", { class: "filters", role: "search", "aria-label": words.filters });
    const search = make("input", { type: "search", placeholder: words["text.hint"], autocomplete: "off", spellcheck: "false" });
    const [node, nodeList] = typed(nodes, `${language}-node-names`);
    const [user, userList] = typed(users, `${language}-user-names`);
    const sorts = COLUMNS.filter(([name]) => name).flatMap(([name, key]) => [[name, fill(words["sort.up"], { column: words[key] })], [`-${name}`, fill(words["sort.down"], { column: words[key] })]]);
    one.append(
      field("text", words, search, words.text),
      field("cause", words, select(counts(causes, "cause", (index) => texts.causes[index])), words.cause),
      field("group", words, select(counts(groups, "group", (index) => `${groups[index]} ${texts.groups[index]}`)), words.group),
      field("state", words, select(counts(states, "state", (index) => words[`state.${states[index]}`] ?? states[index])), words.state),
      field("node", words, node, words.node), nodeList,
      field("user", words, user, words.user), userList,
      field("sort", words, select([["", words["sort.given"]], ...sorts]), words.sort),
    );
    one.addEventListener("submit", (event) => event.preventDefault());
    one.addEventListener("input", (event) => { if (Object.hasOwn(asked, event.target.name)) ask({ [event.target.name]: event.target.value }); });
    return one;
  };

  const articles = [...document.querySelectorAll("article")];
  const build = () => {
    const article = articles.find((one) => one.offsetParent !== null) ?? articles[0];
    const { language } = article.dataset;
    if (parts?.language === language) return;
    parts?.host.replaceChildren();
    texts = data.texts[language];
    const words = texts.words;
    const host = article.querySelector(".live");
    parts = { language, host, inputs: {}, kept: new Map(), isPaper: false };
    parts.status = make("p", { class: "shown", role: "status" });
    parts.nothing = make("p", { class: "nothing soft" }, words.nothing);
    parts.heads = COLUMNS.map(([name, key], at) => {
      const inner = name ? make("button", { type: "button" }, words[key]) : make("button", { type: "button", disabled: "", tabindex: "-1" }, words[key]);
      if (name) inner.addEventListener("click", () => ask({ sort: asked.sort === name ? `-${name}` : asked.sort === `-${name}` ? "" : name }));
      return make("div", { role: "columnheader", "aria-colindex": at + 1, class: name === "hours" ? "figure" : null }, inner);
    });
    parts.head = make("div", { role: "rowgroup", class: "head" }, make("div", { role: "row", "aria-rowindex": "1" }, ...parts.heads));
    parts.body = make("div", { role: "rowgroup", class: "body" });
    parts.grid = make("div", { class: "joblist", role: "grid", tabindex: "0", "aria-label": words.grid, "aria-colcount": COLUMNS.length, "aria-readonly": "true" }, parts.head, parts.body);
    parts.reset = make("button", { type: "button" }, words.reset);
    parts.reset.addEventListener("click", () => { ask({ ...NOTHING }, { isNew: true }); parts.inputs.text.focus(); });
    host.append(form(words, language), make("div", { class: "above" }, parts.status, parts.reset), parts.grid, parts.nothing);
    host.hidden = false;
    article.querySelector(".still").hidden = true;
    measure();
    let isDrawing = false;
    parts.grid.addEventListener("scroll", () => {
      if (isDrawing) return;
      isDrawing = true;
      requestAnimationFrame(() => { isDrawing = false; draw(); });
    }, { passive: true });
    parts.grid.addEventListener("keydown", pressed);
    parts.grid.addEventListener("click", (event) => {
      const cell = event.target.closest("[role=gridcell]");
      if (!cell) return;
      const [, row, at] = /-cell-(\d+)-(\d+)$/.exec(cell.id);
      active.row = Number(row); active.cell = Number(at);
      mark();
    });
    refresh({ isKept: true });
    whenIdle();
  };
  const measure = () => {
    const probe = make("div", { role: "presentation" });
    probe.style.height = "var(--row)";
    parts.host.append(probe);
    parts.height = probe.getBoundingClientRect().height || 52;
    probe.remove();
  };

  // A click on a cause, a group, a node or a user anywhere filters by it.
  document.addEventListener("click", (event) => {
    const one = event.target.closest?.(".pick[data-field]");
    if (!one || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const isWithin = parts.grid.contains(one);
    const { field: name, value } = one.dataset;
    if (!FIELDS.includes(name)) return;
    ask(isWithin ? { [name]: value } : { ...NOTHING, sort: asked.sort, [name]: value }, { isNew: true });
    bring();
    parts.grid.focus({ preventScroll: true });
  });
  for (const one of document.querySelectorAll("a.pick[data-field]")) one.href = `#jobs?${new URLSearchParams({ [one.dataset.field]: one.dataset.value })}`;

  addEventListener("hashchange", () => { if (isOurs()) { fromAddress(); refresh({ isKept: true }); } });
  addEventListener("resize", () => { const before = parts.height; measure(); if (parts.height !== before) { parts.body.style.height = `${view.length * parts.height}px`; draw(true); } else draw(); });
  document.addEventListener("languagechange", build);
  matchMedia("print").addEventListener("change", (event) => { parts.isPaper = event.matches; tellCount(); draw(true); });
  if (isOurs()) fromAddress();
  build();
  if (isOurs()) bring();
})();
