// The viewer: steps through the sampled episodes. Its place is the fragment #episode=RESULT/ROW/TURN.

const store = JSON.parse(document.getElementById("episodes").textContent);
const part = (id) => document.getElementById(id);
const viewer = part("viewer");
const shown = { name: null, index: 0, turn: 0 };

function number(value) {
  return String(Math.round(value * 1000) / 1000).replace("-", "−");
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

const result = () => store.results[shown.name];
const episode = () => result().episodes[shown.index];

function fillResults() {
  const groups = new Map();
  for (const [name, { task, config, policy, method }] of Object.entries(store.results)) {
    const label = config === "default" ? task : `${task}, ${config.replaceAll("_", " ")}`;
    if (!groups.has(label)) {
      groups.set(label, element("optgroup"));
      groups.get(label).label = label;
      part("pick-result").append(groups.get(label));
    }
    const option = element("option", "", `${policy} (${method})`);
    option.value = name;
    groups.get(label).append(option);
  }
}

function showResult() {
  part("pick-result").value = shown.name;
  const { episodes, of } = result();
  part("pick-episode").replaceChildren(
    ...episodes.map((one, index) => {
      const outcome = one.success ? "success" : one.end === "truncated" ? "cut off" : "no success";
      const option = element("option", "", `number ${one.row}: return ${number(one.return)}, ${outcome}`);
      option.value = index;
      return option;
    }),
  );
  part("sampled").textContent =
    episodes.length < of
      ? `${episodes.length} of ${of} episodes are in this page: the best, the worst, and others evenly between, by return.`
      : `All ${of} episodes.`;
}

function showEpisode() {
  const { policy, task } = result();
  const one = episode();
  part("viewer-title").textContent = `${policy} on ${task}`;
  part("pick-episode").value = shown.index;
  part("turn").max = one.rewards.length;
  part("facts").replaceChildren(
    ...[["seed", one.seed], ["ended", one.end], ...one.facts].map(([name, value]) => {
      const pair = element("div");
      pair.append(element("dt", "", name), element("dd", "", value));
      return pair;
    }),
  );
  part("talk").replaceChildren(
    ...one.texts.map((text, place) => {
      const agent = place % 2 === 1;
      const line = element("li", agent ? "agent" : "environment");
      line.dataset.turn = Math.ceil(place / 2);
      const head = element("div", "speaker", agent ? `Agent, turn ${(place + 1) / 2}` : "Environment");
      if (!agent && place) head.append(element("span", "reward", `reward ${number(one.rewards[place / 2 - 1])}`));
      line.append(head, element("div", "text", store.texts[text] || "(nothing)"));
      return line;
    }),
  );
}

function showTurn() {
  const { kind, scene } = result();
  const one = episode();
  const { turn } = shown;
  part("turn").value = turn;
  const total = one.rewards.slice(0, turn).reduce((sum, reward) => sum + reward, 0);
  part("where").textContent = turn
    ? `Turn ${turn} of ${one.rewards.length} · reward ${number(one.rewards[turn - 1])} · return so far ${number(total)}`
    : `Start · ${one.rewards.length} turns`;
  for (const id of ["first", "previous"]) part(id).disabled = turn === 0;
  for (const id of ["next", "last"]) part(id).disabled = turn === one.rewards.length;
  const draw = SCENES[kind];
  part("scene").hidden = !draw;
  viewer.classList.toggle("dialogue", !draw);
  if (draw) part("scene").replaceChildren(draw(one, turn, store.backdrops[scene], store.texts[one.texts[2 * turn]]));
  for (const line of part("talk").children) {
    const its = Number(line.dataset.turn);
    line.classList.toggle("now", its === turn);
    line.classList.toggle("later", its > turn);
  }
  const now = [...part("talk").children].findLast((line) => Number(line.dataset.turn) === turn);
  // Scrolls the list alone, never the page.
  part("talk").scrollTop = now.offsetTop + now.offsetHeight - part("talk").clientHeight + 8;
  remember(`#episode=${shown.name}/${one.row}/${turn}`);
}

// Once the steps have come to rest: browsers stop pages that change their address many times a second.
function remember(fragment) {
  clearTimeout(remember.timer);
  const address = location.pathname + location.search + fragment;
  remember.timer = setTimeout(() => history.replaceState(null, "", address), 150);
}

function show(name, index, turn) {
  const changed = { result: name !== shown.name, episode: name !== shown.name || index !== shown.index };
  Object.assign(shown, { name, index });
  shown.turn = Math.min(Math.max(turn, 0), episode().rewards.length);
  if (!viewer.open) {
    viewer.showModal();
    part("turn").focus();
    changed.result = changed.episode = true;
  }
  if (changed.result) showResult();
  if (changed.episode) showEpisode();
  showTurn();
}

const go = (turn) => show(shown.name, shown.index, turn);

function goEpisode(index) {
  show(shown.name, Math.min(Math.max(index, 0), result().episodes.length - 1), 0);
}

function openFragment() {
  const match = /^#episode=([\w.-]+)(?:\/(\d+))?(?:\/(\d+))?$/.exec(location.hash);
  if (!match || !Object.hasOwn(store.results, match[1])) return;
  const index = store.results[match[1]].episodes.findIndex((one) => String(one.row) === match[2]);
  show(match[1], Math.max(index, 0), Number(match[3] ?? 0));
}

function keyPressed(event) {
  if (event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey) return;
  const moves = {
    ArrowLeft: () => go(shown.turn - 1),
    ArrowRight: () => go(shown.turn + 1),
    Home: () => go(0),
    End: () => go(Infinity),
    PageUp: () => goEpisode(shown.index - 1),
    PageDown: () => goEpisode(shown.index + 1),
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]();
}

fillResults();
part("pick-result").addEventListener("change", (event) => show(event.target.value, 0, 0));
part("pick-episode").addEventListener("change", (event) => goEpisode(Number(event.target.value)));
part("turn").addEventListener("input", (event) => go(Number(event.target.value)));
part("first").addEventListener("click", () => go(0));
part("previous").addEventListener("click", () => go(shown.turn - 1));
part("next").addEventListener("click", () => go(shown.turn + 1));
part("last").addEventListener("click", () => go(Infinity));
part("close").addEventListener("click", () => viewer.close());
viewer.addEventListener("keydown", keyPressed);
viewer.addEventListener("close", () => remember(""));
window.addEventListener("hashchange", openFragment);
openFragment();
