import { posix } from "node:path";
import type { Rule, TextFile, Tree, Violation } from "../source.ts";

/** Somebody's home on somebody's machine. */
const HOME = /(?<![\w.])(\/home\/[a-z][\w-]*|\/Users\/[A-Za-z][\w-]*|[A-Z]:\\Users\\\w+)/;
const CLIMBING = /(?<![\w./-])(?:\.\.\/)+[\w.-]*/g;
/** `[text](target)` and `![text](target)`, without a title. */
const LINK = /\]\(([^)\s]+)\)/g;

/** Nothing names a place that only one machine has. */
export const foreignPaths: Rule = {
  name: "foreign-paths",
  check: ({ texts }) =>
    texts.flatMap((text) =>
      linesOf(text).flatMap(({ line, content }) => {
        const home = HOME.exec(content)?.[1];
        const outside = [...content.matchAll(CLIMBING)]
          .map(([path]) => path)
          .find((path) => leavesRepository(text, path));
        const found = home ?? outside;
        return found ? [{ file: text.path, line, message: `${found} exists on one machine only` }] : [];
      }),
    ),
};

/** A link to a file leads to one. */
export const links: Rule = {
  name: "links",
  check: ({ texts, paths }) =>
    texts.filter(({ path }) => path.endsWith(".md")).flatMap((text) => checkLinks(text, paths)),
};

function checkLinks(text: TextFile, paths: Tree["paths"]): Violation[] {
  return linesOf(text).flatMap(({ line, content }) =>
    [...content.matchAll(LINK)].flatMap(([, link = ""]) => {
      const target = link.split("#")[0] ?? "";
      if (target === "" || /^[a-z]+:/.test(target)) return [];
      const path = posix.join(posix.dirname(text.path), target).replace(/\/$/, "");
      return paths.has(path) ? [] : [{ file: text.path, line, message: `${link} leads nowhere` }];
    }),
  );
}

function linesOf({ text }: TextFile): Array<{ line: number; content: string }> {
  return text.split("\n").map((content, index) => ({ line: index + 1, content }));
}

function leavesRepository(text: TextFile, path: string): boolean {
  return posix.join(posix.dirname(text.path), path).startsWith("..");
}
