import { posix } from "node:path";
import ts from "typescript";
import { nodeRule, type Rule } from "../source.ts";

/** A second test of one source names its kind: `plan.property.test.ts`. */
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*((\.[a-z]+)?\.test)?\.(ts|tsx|mts|js|mjs)$/;
/** As a word of a kebab-case file name. */
const EMPTY_FILE_WORD = /(^|-)(utils?|helpers?|manager|misc|common)(-|\.)/;
/** As a word of a camel-case or upper-case name. */
const EMPTY_NAME_WORD = /(^(utils?|helpers?|manager)|Utils?|Helpers?|Manager|(^|_)(UTILS?|HELPERS?|MANAGER))(?![a-z])/;

/** A file is named after its one concept, in kebab-case. */
export const fileNames: Rule = {
  name: "file-names",
  check: ({ sources }) =>
    sources.flatMap(({ path }) => {
      const name = posix.basename(path);
      if (!KEBAB_CASE.test(name)) return [{ file: path, line: 1, message: "file names are kebab-case" }];
      const word = EMPTY_FILE_WORD.exec(name)?.[2];
      return word ? [{ file: path, line: 1, message: `"${word}" says nothing: name the concept` }] : [];
    }),
};

/** What is declared has a noun or verb of the field in it, and none that fits everything. */
export const declaredNames: Rule = nodeRule("declared-names", (node) => {
  const declares =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node);
  const name = declares && node.name && ts.isIdentifier(node.name) ? node.name.text : "";
  const word = EMPTY_NAME_WORD.exec(name)?.[0];
  return word ? `${name}: "${word}" fits everything, find the truer noun` : undefined;
});
