/**
 * A document for xterm.js, which writes styles as text. This page's policy refuses such text, so that no text of a
 * stranger can ever be one; rules that are made by a program's own calls are not refused. What this document makes turns
 * the one into the other: the text of a style element becomes a sheet of the document, and the attribute `style` of a span
 * becomes properties. The latter holds for all spans of the page, because xterm.js makes some of them by itself.
 */
export function strictDocument(real: Document): Document {
  adoptAttributes();
  const createElement = (tag: string): HTMLElement => (tag === "style" ? createSheet(real) : real.createElement(tag));
  return new Proxy(real, {
    get(target, name) {
      if (name === "createElement") return createElement;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

/** An element that stands for a style element: even an empty one of those would be refused. */
function createSheet(real: Document): HTMLElement {
  const element = real.createElement("i");
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  real.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", {
    get: () => "",
    set: (text: string) => sheet.replaceSync(text),
  });
  const remove = element.remove.bind(element);
  element.remove = () => {
    real.adoptedStyleSheets = real.adoptedStyleSheets.filter((one) => one !== sheet);
    remove();
  };
  return element;
}

function adoptAttributes(): void {
  const spans = HTMLSpanElement.prototype;
  if (Object.hasOwn(spans, "setAttribute")) return;
  spans.setAttribute = function (this: HTMLSpanElement, name: string, value: string) {
    if (name === "style") this.style.cssText = value;
    else HTMLElement.prototype.setAttribute.call(this, name, value);
  };
}
