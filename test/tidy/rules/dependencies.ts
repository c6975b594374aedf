import type { Rule, Violation } from "../source.ts";

const REGISTER = "docs/dependencies.md";
/** A row of its tables, by the package in the first cell. */
const ROW = /^\| `([^`]+)` *\|/gm;
/** A version; before it the name of the package, where it has another one here. */
const EXACT_VERSION = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;

/** Every package that we install has an exact version and its line in the register, and the register no others. */
export const dependencies: Rule = {
  name: "dependencies",
  check({ texts }) {
    const manifest = texts.find(({ path }) => path === "package.json");
    const register = texts.find(({ path }) => path === REGISTER);
    if (!manifest || !register) return [];
    const versions = new Map([
      ...versionsIn(manifest.text, "dependencies"),
      ...versionsIn(manifest.text, "devDependencies"),
    ]);
    const registered = new Set([...register.text.matchAll(ROW)].map(([, name = ""]) => name));
    const violations: Violation[] = [];
    for (const [name, version] of versions) {
      const report = (message: string) => violations.push({ file: "package.json", line: 1, message });
      if (!EXACT_VERSION.test(version)) report(`${name} ${version}: versions are exact`);
      if (!registered.has(name)) report(`${name} has no line in ${REGISTER}`);
    }
    for (const name of registered) {
      if (!versions.has(name)) violations.push({ file: REGISTER, line: 1, message: `${name} is not in package.json` });
    }
    return violations;
  },
};

function versionsIn(manifest: string, field: string): Array<[name: string, version: string]> {
  const parsed: unknown = JSON.parse(manifest);
  if (typeof parsed !== "object" || parsed === null) return [];
  const section = Object.entries(parsed).find(([key]) => key === field)?.[1];
  if (typeof section !== "object" || section === null) return [];
  return Object.entries(section).map(([name, version]) => [name, String(version)]);
}
