import type { Exception } from "./exceptions.ts";
import type { Rule, Tree, Violation } from "./source.ts";

/** What a rule finds, less what the exceptions allow, plus exceptions that allow more than there is. */
export function checkRule(rule: Rule, tree: Tree, exceptions: readonly Exception[]): Violation[] {
  const found = rule.check(tree);
  const ours = exceptions.filter((exception) => exception.rule === rule.name);
  const allowed = new Map(ours.map(({ file, count }) => [file, count]));
  const countIn = (file: string) => found.filter((violation) => violation.file === file).length;
  const left = found.filter(({ file }) => countIn(file) > (allowed.get(file) ?? 0));
  const stale = ours
    .filter(({ file, count }) => countIn(file) < count)
    .map(({ file, count }) => ({
      file,
      line: 1,
      message: `exceptions.ts allows ${count} here and there are ${countIn(file)}: correct it`,
    }));
  return [...left, ...stale];
}

/** How many, then one line a violation, as editors and terminals link it. */
export function formatViolations(rule: Rule, violations: readonly Violation[]): string {
  const lines = violations.map(({ file, line, message }) => `${file}:${line} [${rule.name}] ${message}`);
  return [`${violations.length} violations of ${rule.name}`, ...lines].join("\n");
}
