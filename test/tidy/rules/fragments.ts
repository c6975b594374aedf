import { commentsOf } from "../comments.ts";
import type { Rule } from "../source.ts";

const FRAGMENT = /^(?:\/\/|\/\*+)[\s*]*Of\s/;

/** A comment has a subject: one that begins with "Of …" makes its reader look for the thing that it is about. */
export const noFragments: Rule = {
  name: "no-fragments",
  check: ({ sources }) =>
    sources.flatMap((source) =>
      commentsOf(source)
        .filter(({ text }) => FRAGMENT.test(text))
        .map(({ line }) => ({
          file: source.path,
          line,
          message: 'a comment begins with "Of": name its subject first',
        })),
    ),
};
