// The page's picture as one SVG: what is painted on its canvases and what stands over them as text.
//
// `Sheet` has exactly those methods of a canvas that the painter calls, and writes down SVG instead of pixels; so there is
// one painter for both. Loaded when somebody saves or copies a picture.

const n = (x) => +x.toFixed(2);
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
let ids = 0;

/** What `save` keeps and `restore` brings back. */
const STATE = [
  "fillStyle", "strokeStyle", "lineWidth", "lineJoin", "globalAlpha", "font", "textAlign", "lineDashOffset", "dash", "clips", "matrix",
];

/** A context. */
class Sheet {
  // Fields, not assignments: those would call the setters of a real context.
  fillStyle = "#000"; strokeStyle = "#000"; lineWidth = 1; lineJoin = "miter"; globalAlpha = 1; font = "10px sans-serif";
  textAlign = "left"; lineDashOffset = 0; dash = []; clips = 0; matrix = "";
  out = []; defs = []; kept = []; path = "";

  clear() { Object.assign(this, { out: [], defs: [], kept: [], path: "" }); }
  clearRect() {} // a sheet is painted once

  save() { this.kept.push(Object.fromEntries(STATE.map((key) => [key, this[key]]))); }
  restore() {
    const { clips, ...rest } = this.kept.pop() ?? this;
    while (this.clips > clips) { this.out.push("</g>"); this.clips--; }
    Object.assign(this, rest);
  }
  setTransform(a, b, c, d, e, f) { this.matrix = a === 1 && d === 1 && !b && !c && !e && !f ? "" : [a, b, c, d, e, f].map(n).join(" "); }
  setLineDash(lengths) { this.dash = [...lengths]; }

  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${n(x)} ${n(y)}`; }
  lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${n(x)} ${n(y)}`; }
  closePath() { this.path += "Z"; }
  bezierCurveTo(a, b, c, d, x, y) { this.path += `C${[a, b, c, d, x, y].map(n).join(" ")}`; }
  rect(x, y, w, h) { this.path += `M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}Z`; }
  roundRect(x, y, w, h, r) {
    const arc = (dx, dy) => `a${n(r)} ${n(r)} 0 0 1 ${n(dx)} ${n(dy)}`;
    this.path += `M${n(x + r)} ${n(y)}h${n(w - 2 * r)}${arc(r, r)}v${n(h - 2 * r)}${arc(-r, r)}h${n(2 * r - w)}${arc(-r, -r)}v${n(2 * r - h)}${arc(r, -r)}Z`;
  }
  arc(x, y, r, from, to, back = false) {
    const sweep = back ? 0 : 1, at = (angle) => `${n(x + r * Math.cos(angle))} ${n(y + r * Math.sin(angle))}`;
    this.path += `${this.path ? "L" : "M"}${at(from)}`;
    // Two halves, so that a whole circle is no empty arc.
    const half = from + (back ? -1 : 1) * Math.abs(to - from) / 2, end = from + 2 * (half - from);
    this.path += [half, end].map((angle) => `A${n(r)} ${n(r)} 0 0 ${sweep} ${at(angle)}`).join("");
  }

  paint(style) { return style instanceof Tile ? style.use(this) : style; }
  alpha() { return this.globalAlpha < 1 ? ` opacity="${n(this.globalAlpha)}"` : ""; }
  moved() { return this.matrix && ` transform="matrix(${this.matrix})"`; }
  shape(d, look) { if (d) this.out.push(`<path d="${d}"${look}${this.alpha()}${this.moved()}/>`); }
  fill() { this.shape(this.path, ` fill="${this.paint(this.fillStyle)}"`); }
  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(n).join(" ")}" stroke-dashoffset="${n(this.lineDashOffset)}"` : "";
    this.shape(this.path, ` fill="none" stroke="${this.paint(this.strokeStyle)}" stroke-width="${n(this.lineWidth)}" stroke-linejoin="${this.lineJoin}"${dash}`);
  }
  fillRect(x, y, w, h) {
    if (w > 0 && h > 0) this.shape(`M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}Z`, ` fill="${this.paint(this.fillStyle)}"`);
  }
  clip() {
    const id = `c${ids++}`;
    this.defs.push(`<clipPath id="${id}"><path d="${this.path}"${this.moved()}/></clipPath>`);
    this.out.push(`<g clip-path="url(#${id})">`);
    this.clips++;
  }
  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end" }[this.textAlign] ?? "start";
    this.out.push(`<text x="${n(x)}" y="${n(y)}" text-anchor="${anchor}" fill="${this.fillStyle}" style="font:${escaped(this.font)};font-variant-numeric:tabular-nums"${this.alpha()}${this.moved()}>${escaped(text)}</text>`);
  }
  createPattern(canvas) { return new Tile(canvas); }
  drawImage(from, x, y, w, h) {
    if (!(from instanceof Canvas)) return;
    const { sheet } = from;
    // Kept curves are copied twice, before and behind the playhead: they are written once.
    if (!from.mark) {
      from.mark = `s${ids++}`;
      this.defs.push(...sheet.defs, `<g id="${from.mark}">${sheet.body()}</g>`);
    }
    const scale = [w / from.w, 0, 0, h / from.h, x, y].map((v) => +v.toFixed(5)).join(" ");
    this.out.push(`<use href="#${from.mark}" transform="matrix(${scale})"${this.alpha()}/>`);
  }
  body() { return this.out.join("") + "</g>".repeat(this.clips); }
}

/** A canvas whose context is a sheet. */
class Canvas {
  w = 0; h = 0; sheet = new Sheet(); mark = "";
  getContext() { return this.sheet; }
  get width() { return this.w; }
  set width(w) { this.w = w; this.sheet.clear(); }
  get height() { return this.h; }
  set height(h) { this.h = h; this.sheet.clear(); }
}

// The painter asks what it was given for its kind.
Object.setPrototypeOf(Sheet.prototype, CanvasRenderingContext2D.prototype);
Object.setPrototypeOf(Canvas.prototype, HTMLCanvasElement.prototype);

/** A pattern. */
class Tile {
  constructor(canvas) { this.canvas = canvas; }
  use(on) {
    if (!this.id) {
      this.id = `t${ids++}`;
      const { w, h, sheet } = this.canvas;
      on.defs.push(...sheet.defs, `<pattern id="${this.id}" width="${w}" height="${h}" patternUnits="userSpaceOnUse">${sheet.body()}</pattern>`);
    }
    return `url(#${this.id})`;
  }
}

/** Records one call of the painter. The canvases that it makes meanwhile record, too. */
function record(paint, name) {
  const sheet = new Sheet();
  const make = Document.prototype.createElement;
  document.createElement = (tag, ...rest) => (tag === "canvas" ? new Canvas() : make.call(document, tag, ...rest));
  try { paint(name, sheet); } finally { delete document.createElement; }
  return sheet;
}

const measure = new OffscreenCanvas(1, 1).getContext("2d");

/** Text of a node, line by line as it stands on the page. */
function lines(node) {
  const range = document.createRange(), found = [];
  for (let i = 0; i < node.data.length; i++) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const box = range.getClientRects()[0];
    if (!box || !box.height) continue;
    const last = found.at(-1);
    if (last && Math.abs(last.top - box.top) < 2 && box.left >= last.left) {
      last.text += node.data[i];
      last.right = box.right;
    } else {
      found.push({ text: node.data[i], left: box.left, right: box.right, top: box.top });
    }
  }
  return found;
}

const seen = (colour) => colour && colour !== "transparent" && !/, 0\)$|\/ 0\)$/.test(colour);
const font = (style) => `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;

/** What one part of the page shows, as SVG whose origin is at (x, y) of the window. */
function part(root, x, y, paint, defs) {
  const out = [];
  const text = (node, style, edge) => {
    measure.font = font(style);
    const { fontBoundingBoxAscent: up } = measure.measureText("x");
    for (const line of lines(node)) {
      let words = line.text.replace(/\s+/g, " ");
      if (!words.trim() || line.left >= edge) continue;
      // Cut as the page cuts it.
      if (line.right > edge + 1) {
        while (words && line.left + measure.measureText(words + "…").width > edge) words = words.slice(0, -1);
        words += "…";
      }
      const spacing = parseFloat(style.letterSpacing) || 0;
      out.push(`<text xml:space="preserve" x="${n(line.left - x)}" y="${n(line.top - y + up)}" fill="${style.color}" style="font:${escaped(font(style))};font-variant-numeric:tabular-nums${spacing ? `;letter-spacing:${spacing}px` : ""}">${escaped(words)}</text>`);
    }
  };
  const box = (r, style) => {
    const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, r.height / 2);
    const width = parseFloat(style.borderTopWidth), left = parseFloat(style.borderLeftWidth);
    const edge = width > 0 && style.borderTopStyle !== "none" && seen(style.borderTopColor);
    const fill = seen(style.backgroundColor) ? style.backgroundColor : "none";
    if (fill !== "none" || (edge && left > 0)) {
      out.push(`<rect x="${n(r.left - x)}" y="${n(r.top - y)}" width="${n(r.width)}" height="${n(r.height)}" rx="${n(radius)}" fill="${fill}"${edge && left > 0 ? ` stroke="${style.borderTopColor}" stroke-width="${width}"` : ""}/>`);
    } else if (left > 0 && !(width > 0) && style.borderLeftStyle !== "none" && seen(style.borderLeftColor)) {
      out.push(`<path d="M${n(r.left - x)} ${n(r.top - y)}v${n(r.height)}" stroke="${style.borderLeftColor}" stroke-width="${left}"/>`);
    }
  };
  const walk = (element, edge) => {
    const style = getComputedStyle(element), r = element.getBoundingClientRect();
    if (style.display === "none" || style.visibility !== "visible" || style.clipPath !== "none" || +style.opacity === 0) return;
    if (element.localName === "canvas") {
      const sheet = record(paint, element.closest(".tracks") ? "tracks" : "picture");
      defs.push(...sheet.defs);
      out.push(`<g transform="translate(${n(r.left - x)} ${n(r.top - y)})">${sheet.body()}</g>`);
      return;
    }
    if (element instanceof SVGSVGElement) {
      const look = `fill="${style.fill}" stroke="${style.stroke}" stroke-width="${style.strokeWidth}" style="color:${style.color}"`;
      out.push(`<svg x="${n(r.left - x)}" y="${n(r.top - y)}" width="${n(r.width)}" height="${n(r.height)}" viewBox="${element.getAttribute("viewBox")}" ${look}>${element.innerHTML}</svg>`);
      return;
    }
    if (element.matches("input, select, .hit")) return;
    const faint = +style.opacity < 1;
    if (faint) out.push(`<g opacity="${style.opacity}">`);
    if (element !== root) box(r, style);
    const cut = style.overflowX !== "visible" ? Math.min(edge, r.right) : edge;
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text(child, style, cut);
      else if (child.nodeType === Node.ELEMENT_NODE) walk(child, cut);
    }
    if (faint) out.push("</g>");
  };
  walk(root, Infinity);
  return out.join("");
}

/** The elements `parts` of the page below each other, under a title and above a line about where it comes from.
 *  @returns {{ svg: string, width: number, height: number }} */
export function draw(parts, title, about, paint) {
  const root = getComputedStyle(document.documentElement);
  const colour = (name) => root.getPropertyValue(name).trim();
  const body = getComputedStyle(document.body).fontFamily;
  const defs = [], out = [];
  const boxes = parts.map((element) => element.getBoundingClientRect());
  const width = Math.ceil(Math.max(...boxes.map((r) => r.width)));
  let height = 44;
  const line = (words, y, look, ink) => out.push(`<text x="24" y="${y}" fill="${colour(ink)}" style="font:${escaped(`${look} ${body}`)}">${escaped(words)}</text>`);
  line(title, 29, "600 16px", "--ink");
  parts.forEach((element, i) => {
    out.push(`<g transform="translate(0 ${height})">${part(element, boxes[i].left, boxes[i].top, paint, defs)}</g>`);
    height += Math.ceil(boxes[i].height);
  });
  line(about, height + 22, "12px", "--ink-3");
  height += 38;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><title>${escaped(title)}</title><desc>${escaped(about)}</desc><defs>${defs.join("")}</defs><rect width="100%" height="100%" fill="${colour("--sheet")}"/>${out.join("")}</svg>`;
  return { svg, width, height };
}
