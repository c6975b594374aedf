import { BLOCKS } from "./blocks.ts";
import type { Run } from "./run-file.ts";

/** A page, and its pictures by their file names. */
interface RenderedPage {
  page: string;
  pictures: ReadonlyMap<string, string>;
}

const PLACE = /\{\{(\S+?)((?: [^\s}]+)*)\}\}/g;

/** Puts the blocks of a run where the template names them: `{{name word word}}`. Throws for a name that is no block's. */
export function renderPage(template: string, run: Run): RenderedPage {
  const pictures = new Map<string, string>();
  const page = template.replaceAll(PLACE, (_, name: string, words: string) => {
    const make = BLOCKS[name];
    if (make === undefined) throw new Error(`the template names a block that does not exist: ${name}`);
    const { text, picture } = make(
      run,
      words.split(" ").filter((word) => word !== ""),
    );
    if (picture !== undefined) pictures.set(picture.file, picture.svg);
    return text;
  });
  return { page, pictures };
}
