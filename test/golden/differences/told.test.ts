import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FieldTable } from "../../../src/config/codec.ts";
import { composeConfiguration } from "../../../src/config/compose-configuration.ts";
import { FEATURE_GATES } from "../../../src/config/feature-gate-table.ts";
import { GATES_ALWAYS_ON, GATES_IN_USE, resolveFeatureGates } from "../../../src/config/feature-gates.ts";
import { KUBELET_FLAGS } from "../../../src/config/flags.ts";
import { KUBELET_CONFIGURATION_FIELDS } from "../../../src/config/kubelet-configuration.ts";
import { parseFlags } from "../../../src/config/parse-flags.ts";

const SOURCES = new URL("../../../src/", import.meta.url);
/** What names each field, flag and gate, so that a name in it proves nothing. */
const TABLES = ["configuration-flags.ts", "process-flags.ts", "feature-gate-table.ts", "feature-gates.ts"];

interface Leaf {
  readonly path: string;
  readonly field: FieldTable[string];
}

function leavesOf(table: FieldTable, prefix = ""): Leaf[] {
  return Object.entries(table).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    return field.codec.fields === undefined ? [{ path, field }] : leavesOf(field.codec.fields, `${path}.`);
  });
}

/** How often each word is in the code of the program. */
function countWords(): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !TABLES.includes(path.replace(/^config\//, "")),
  );
  for (const file of files) {
    const text = readFileSync(new URL(file, SOURCES), "utf8");
    for (const [word] of text.matchAll(/[\w-]+/g)) words.set(word, (words.get(word) ?? 0) + 1);
  }
  return words;
}

const LEAVES = leavesOf(KUBELET_CONFIGURATION_FIELDS);
const WORDS = countWords();

/** Values of all types; the first that the field takes is used. */
const SAMPLES: readonly unknown[] = [1, 0.5, "1s", "/x", true, { a: "1" }, ["a"], [{ name: "x" }]];
/** The only values besides the defaults, of fields that take few. */
const RARE_SAMPLES: Readonly<Record<string, unknown>> = {
  hairpinMode: "none",
  memoryReservationPolicy: "TieredReservation",
};

function sampleOf({ path, field }: Leaf): unknown {
  if (RARE_SAMPLES[path] !== undefined) return RARE_SAMPLES[path];
  const isTaken = (value: unknown) => {
    const report = { errors: [], unknownFields: [] };
    return field.codec.decode(value, path, report) !== undefined && report.errors.length === 0;
  };
  return SAMPLES.find(isTaken);
}

function documentWith(path: string, value: unknown): string {
  const fields = path.split(".").reduceRight((inner: unknown, name) => ({ [name]: inner }), value);
  const featureGates = { MemoryQoS: true };
  const head = { kind: "KubeletConfiguration", apiVersion: "kubelet.config.k8s.io/v1beta1", featureGates };
  return JSON.stringify({ ...head, ...(typeof fields === "object" && fields) });
}

describe("what is told of the configuration is true", () => {
  it.each(LEAVES.filter(({ field }) => field.effect !== "works").map((leaf) => [leaf.path, leaf] as const))(
    "the field %s, which has no effect, says so where it is set",
    (path, leaf) => {
      const text = documentWith(path, sampleOf(leaf));
      const { warnings, errors } = composeConfiguration({ file: { path: "/k", text }, dropIns: [], flags: new Map() });
      const told = [...warnings, ...errors.map(({ message }) => message)];
      expect(told).toContainEqual(expect.stringContaining(path));
    },
  );

  it("each other field is read by the program, beyond the table that names it", () => {
    const unread = LEAVES.filter(({ field }) => field.effect === "works")
      .map(({ path }) => path.split(".").at(-1) ?? path)
      .filter((name) => (WORDS.get(name) ?? 0) < 2);
    expect(unread).toEqual([]);
  });

  it.each(KUBELET_FLAGS.filter(({ effect }) => effect !== "works").map((flag) => [flag.name, flag] as const))(
    "the flag --%s, which has no effect, says so where it is set",
    (name, flag) => {
      const text =
        flag.type.withoutValue ?? ["1", "1s", "a=1", "1.1.1.1"].find((each) => flag.type.parse(each, undefined).ok);
      const parsed = parseFlags([`--${name}=${text}`]);
      expect(parsed).toMatchObject({ ok: true });
      expect(parsed.ok && parsed.notices).toContainEqual(
        expect.stringMatching(`--${name} is accepted but has no effect`),
      );
    },
  );

  it("each other flag is of a field, or read by the program", () => {
    const unread = KUBELET_FLAGS.filter(({ effect, field }) => effect === "works" && field === undefined)
      .map(({ name }) => name)
      .filter((name) => !WORDS.has(name));
    expect(unread).toEqual([]);
  });

  it.each(Object.keys(FEATURE_GATES).flatMap((name) => [[name, true] as const, [name, false] as const]))(
    "the feature gate %s=%s is read, refused, locked to what is there, or says that it has no effect",
    (name, enabled) => {
      const { gates, errors, warnings } = resolveFeatureGates({ [name]: enabled });
      const isRead = new Map(Object.entries(gates)).get(name) === enabled && WORDS.has(name) && isInUse(name);
      const says = warnings.some((warning) => warning.includes(`${name}=${enabled}`) && /no effect/.test(warning));
      const { locked } = Object.entries(FEATURE_GATES).find(([other]) => other === name)?.[1] ?? { locked: false };
      const isAsLocked = locked && !GATES_ALWAYS_ON.some((always) => always === name);
      expect(isRead || errors.length > 0 || says || isAsLocked).toBe(true);
      expect(says && isRead).toBe(false);
    },
  );
});

function isInUse(name: string): boolean {
  return GATES_IN_USE.some((other) => other === name);
}
