// Drawings of an episode at a turn: 0 is the start, t is after the agent's turn t. Texts only ever go into textContent.

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function picture(width, height, label, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "scene" }, ...children);
}

function write(x, y, text, name) {
  const element = svg("text", { x, y, class: name });
  element.textContent = text;
  return element;
}

// Wordle: six rows of five tiles.
const COLOUR_NAMES = { g: "green", y: "yellow", b: "grey" };

function drawWordle(episode, turn) {
  const size = 46, step = 52, tiles = [], said = [];
  for (let row = 0; row < 6; row++) {
    const [word, colours] = row < turn ? episode.frames[row] : ["", ""];
    const unusable = row < turn && !word;
    for (let column = 0; column < 5; column++) {
      const [x, y] = [3 + column * step, 3 + row * step];
      const kind = colours ? COLOUR_NAMES[colours[column]] : unusable ? "unusable" : "empty";
      tiles.push(svg("rect", { x, y, width: size, height: size, rx: 4, class: `tile ${kind}` }));
      if (word) tiles.push(write(x + size / 2, y + 32, word[column].toUpperCase(), `letter ${kind}`));
      // Told apart by more than the colour.
      if (kind === "green") tiles.push(svg("path", { d: `M${x + 10} ${y + 40}h26`, class: "mark" }));
      if (kind === "yellow") tiles.push(svg("path", { d: `M${x + 10} ${y + 40}h26`, class: "mark dotted" }));
    }
    if (word) said.push(`${word}: ${[...colours].map((colour) => COLOUR_NAMES[colour]).join(" ")}`);
    if (unusable) said.push("unusable guess");
  }
  return picture(5 * step, 6 * step, said.join("; ") || "no guess yet", ...tiles);
}

// Maze: the free cells, the goal, and the way so far.
function drawMaze(episode, turn, backdrop) {
  const size = 34, { cells, goal } = backdrop;
  const rows = Math.max(...cells.map((cell) => cell[0])) + 2, columns = Math.max(...cells.map((cell) => cell[1])) + 2;
  const centre = (cell) => [(cells[cell][1] + 0.5) * size, (cells[cell][0] + 0.5) * size];
  const parts = [svg("rect", { x: 0, y: 0, width: columns * size, height: rows * size, class: "rock" })];
  for (const [row, column] of cells)
    parts.push(svg("rect", { x: column * size, y: row * size, width: size, height: size, class: "floor" }));
  const [goalX, goalY] = centre(goal);
  parts.push(svg("rect", { x: goalX - 11, y: goalY - 11, width: 22, height: 22, rx: 3, class: "goal" }));
  const way = episode.frames.slice(0, turn + 1).map(centre);
  parts.push(svg("polyline", { points: way.map((point) => point.join(",")).join(" "), class: "way" }));
  parts.push(svg("circle", { cx: way[0][0], cy: way[0][1], r: 4, class: "start" }));
  const [x, y] = way[turn];
  parts.push(svg("circle", { cx: x, cy: y, r: 9, class: "agent" }));
  const [row, column] = cells[episode.frames[turn]];
  return picture(columns * size, rows * size, `agent at row ${row}, column ${column}`, ...parts);
}

// House: rooms on a plan, with the things in them.
function drawHouse(episode, turn, backdrop) {
  const width = 128, height = 138, gap = 14, { rooms, doors, furniture } = backdrop;
  const [here, chestOpen, fridgeOpen, places] = episode.frames[turn];
  const corner = (room) => rooms[room].map((place, axis) => place * ([width, height][axis] + gap) + gap / 2);
  const middle = (room) => [corner(room)[0] + width / 2, corner(room)[1] + height / 2];
  const size = [0, 1].map((axis) => Math.max(...Object.values(rooms).map((place) => place[axis])) + 1);
  const parts = [];
  for (const [room, other] of doors) {
    const [[x1, y1], [x2, y2]] = [middle(room), middle(other)];
    parts.push(svg("line", { x1, y1, x2, y2, class: "door" }));
  }
  for (const room of Object.keys(rooms)) {
    const [x, y] = corner(room);
    parts.push(svg("rect", { x, y, width, height, rx: 4, class: room === here ? "room here" : "room" }));
    parts.push(write(x + 9, y + 21, room, "room-name"));
    if (room === here) parts.push(svg("circle", { cx: x + width - 15, cy: y + height - 15, r: 7, class: "agent" }));
    const stands = furniture[room];
    const open = { chest: chestOpen, fridge: fridgeOpen }[stands];
    const inside = stands === "table" ? `${room} table` : stands;
    const name = open === undefined ? stands : `${stands}, ${open ? "open" : "closed"}`;
    const lines = [];
    for (const [where, heading] of [[inside, name], [`floor of ${room}`, "floor"]]) {
      const things = Object.keys(places).filter((thing) => places[thing] === where);
      if (where === inside ? stands : things.length) lines.push([heading, "stand"]);
      lines.push(...things.map((thing) => [`· ${thing}`, "thing"]));
    }
    lines.forEach(([text, kind], line) => parts.push(write(x + 9, y + 40 + 17 * line, text, kind)));
  }
  const carried = Object.keys(places).filter((thing) => places[thing] === "inventory");
  const eaten = Object.keys(places).filter((thing) => places[thing] === "eaten");
  const bottom = size[1] * (height + gap);
  parts.push(write(gap / 2, bottom + 20, `Carried: ${carried.join(", ") || "nothing"}`, "carried"));
  if (eaten.length) parts.push(write(gap / 2, bottom + 41, `Eaten: ${eaten.join(", ")}`, "carried"));
  return picture(size[0] * (width + gap), bottom + 46, `agent in the ${here}`, ...parts);
}

// Chess: the board of the FEN that was shown, seen from White, with the last moves.
const PIECES = {
  p: "M22.5 10a5 5 0 0 0-3.2 8.9c-2.6 1-4.1 2.6-4.1 4.1h4.3c-.6 5.6-3.2 8.6-6.6 11V38h19.2v-4c-3.4-2.4-6-5.4-6.6-11h4.3c0-1.5-1.5-3.1-4.1-4.1A5 5 0 0 0 22.5 10z",
  r: "M11.5 8.5v8l4 3.5v10.5l-3.5 4V38h21v-3.5l-3.5-4V20l4-3.5v-8H29v3.2h-3.8V8.500h-5.4v3.2H16V8.500z",
  n: "M16.500 38h17.500c.6-13.500-1.500-24.500-12-26.500l-.8-4-3.700 4.500c-3.500 2.500-4.500 6-7.500 10.500-1 1.700-.6 3.500 1 4.500 1.800 1.100 3.300.3 4.300-1.200 2-1.800 4.200-1.500 6.200-2.300-1 5.500-5.500 7.500-5 14.500z",
  b: "M22.500 5.500a2.600 2.600 0 0 0-1.700 4.600c-4.300 3.300-8.300 8.300-6.300 14.400h4.600c-.6 3.500-2.600 5.500-6.100 7.500V38h19v-6c-3.500-2-5.500-4-6.100-7.500h4.600c2-6.100-2-11.100-6.300-14.400a2.600 2.600 0 0 0-1.700-4.600z",
  q: "M8 12.500 12.500 28c1.600 2 1.500 4 .5 6V38h19v-4c-1-2-1.100-4 .5-6L37 12.500l-6.500 8.700L27.300 8.500l-4.800 12-4.800-12-3.200 12.700z",
  k: "M21 4.500V8h-3.300v3H21v3.600c-5-1.500-12.500.4-12 7 .3 4 3.500 6 4.500 9V38h18v-7.400c1-3 4.200-5 4.500-9 .5-6.600-7-8.500-12-7V11h3.300V8H24V4.500z",
};
const INNER = {
  b: "M22.500 13.500v7m-3.200-3.500h6.400M15.500 32h14", q: "M13.500 29.500h18m-18 4h18", k: "M22.500 16.500v13m-9 1.500h18m-18 3.500h18",
  r: "M15.500 20h14m-14 10.500h14", n: "M17.500 17.200h.01", p: "",
};
const PIECE_NAMES = { p: "pawn", r: "rook", n: "knight", b: "bishop", q: "queen", k: "king" };

function drawChess(episode, turn, backdrop, text) {
  const size = 45, margin = 16, parts = [], said = [];
  const place = (square) => [margin + (square.charCodeAt(0) - 97) * size, (8 - Number(square[1])) * size];
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const kind = (row + column) % 2 ? "square dark" : "square";
      parts.push(svg("rect", { x: margin + column * size, y: row * size, width: size, height: size, class: kind }));
    }
    parts.push(write(margin / 2, row * size + 27, String(8 - row), "file"));
    parts.push(write(margin + row * size + size / 2, 8 * size + 13, "abcdefgh"[row], "file"));
  }
  const [agentMove, reply] = turn ? episode.frames[turn - 1] : ["", ""];
  for (const [move, kind] of [[agentMove, "moved"], [reply, "moved reply"]]) {
    for (const square of move ? [move.slice(0, 2), move.slice(2, 4)] : []) {
      const [x, y] = place(square);
      parts.push(svg("rect", { x: x + 1.5, y: y + 1.5, width: size - 3, height: size - 3, class: kind }));
    }
  }
  text.split(" ")[0].split("/").forEach((line, row) => {
    let column = 0;
    for (const letter of line) {
      if (/[1-8]/.test(letter)) { column += Number(letter); continue; }
      const piece = letter.toLowerCase();
      if (!PIECES[piece]) continue;
      const colour = letter === piece ? "black" : "white";
      const at = { transform: `translate(${margin + column * size} ${row * size})`, class: `piece ${colour}` };
      parts.push(svg("g", at, svg("path", { d: PIECES[piece] }), svg("path", { d: INNER[piece], class: "inner" })));
      said.push(`${colour} ${PIECE_NAMES[piece]} ${"abcdefgh"[column]}${8 - row}`);
      column++;
    }
  });
  return picture(margin + 8 * size, 8 * size + margin, said.join(", "), ...parts);
}

const SCENES = { wordle: drawWordle, maze: drawMaze, house: drawHouse, chess: drawChess };
