import { posix } from "node:path";
import { parseSource, type Rule, type Tree } from "./source.ts";

/** A small repository for the tests of the rules: the text of each file by its path. */
export function treeOf(files: Readonly<Record<string, string>>): Tree {
  const texts = Object.entries(files).map(([path, text]) => ({ path, text }));
  const sources = texts.filter(({ path }) => /\.m?[jt]s$/.test(path)).map(({ path, text }) => parseSource(path, text));
  const folders = texts.map(({ path }) => posix.dirname(path));
  return { sources, texts, paths: new Set([...texts.map(({ path }) => path), ...folders]) };
}

/** `file:line` of what a rule finds in it. */
export function findIn(rule: Rule, files: Readonly<Record<string, string>>): string[] {
  return rule.check(treeOf(files)).map(({ file, line }) => `${file}:${line}`);
}

/** The same for one file, whose lines are given. */
export function linesFoundIn(rule: Rule, path: string, ...lines: string[]): number[] {
  return rule.check(treeOf({ [path]: lines.join("\n") })).map(({ line }) => line);
}
