import { dirname, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { stringify } from "yaml";
import { isRecord } from "../../api/object.ts";
import { parseYaml } from "../../api/yaml.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import { findNearestWord } from "../../base/nearest-word.ts";
import { UP_SETTINGS, type UpSetting } from "./up-settings.ts";

/** What the first lines of a configuration file say. */
export const UP_API_VERSION = "nodelet.dev/v1alpha1";
export const UP_KIND = "UpConfiguration";

/** Settings by their field. */
export type UpValues = Readonly<Record<string, unknown>>;

const MAX_WORD_CHARACTERS = 64;

/**
 * Decodes a configuration file strictly. Relative paths in it are taken from its directory. Throws a CodedError
 * `bad-configuration` that names the file, and each field that is wrong with what it must be.
 */
export function decodeUpConfiguration(text: string, path: string): UpValues {
  const documents = parseYaml(text);
  const syntax = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (syntax.length > 0) throw refusal(path, syntax);
  const [document] = documents;
  if (documents.length !== 1) throw refusal(path, [`it must be one document, not ${documents.length}`]);
  const raw = document?.value;
  if (!isRecord(raw)) throw refusal(path, ["it must be an object with apiVersion, kind and settings"]);
  const problems: string[] = [];
  const expect = (field: "apiVersion" | "kind", value: string) => {
    if (raw[field] !== value) problems.push(`${field}: must be "${value}", not ${show(raw[field])}`);
  };
  expect("apiVersion", UP_API_VERSION);
  expect("kind", UP_KIND);
  const values: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(raw)) {
    if (field === "apiVersion" || field === "kind") continue;
    const setting = UP_SETTINGS.find((one) => one.field === field);
    if (setting === undefined) problems.push(explainUnknown(field));
    else if (value !== null) values[field] = decodeValue(setting, value, { directory: dirname(path), problems });
  }
  if (problems.length > 0) throw refusal(path, problems);
  return values;
}

/** Writes settings as a file, in the order of the table; `schema` is where editors find what may be in it. */
export function formatUpConfiguration(values: UpValues, schema: string): string {
  const settings = UP_SETTINGS.filter(({ field }) => values[field] !== undefined);
  const object = { apiVersion: UP_API_VERSION, kind: UP_KIND };
  const fields = Object.fromEntries(settings.map(({ field }) => [field, values[field]]));
  return `# yaml-language-server: $schema=${schema}\n${stringify({ ...object, ...fields }, { lineWidth: 0 })}`;
}

/** What has changed between two sets of settings, a sentence for each field. */
export function describeChanges(before: UpValues, after: UpValues): string[] {
  return UP_SETTINGS.filter(({ field }) => JSON.stringify(before[field]) !== JSON.stringify(after[field])).map(
    ({ field }) => `${field}: ${show(after[field])} instead of ${show(before[field])}`,
  );
}

interface DecodePlace {
  readonly directory: string;
  readonly problems: string[];
}

function decodeValue(setting: UpSetting, value: unknown, { directory, problems }: DecodePlace): unknown {
  const refuse = (what: string) => {
    problems.push(`${setting.field}: must be ${what}, not ${show(value)}`);
    return undefined;
  };
  switch (setting.kind) {
    case "switch":
      return typeof value === "boolean" ? value : refuse("true or false");
    case "number": {
      const { least, most } = setting;
      const isThere = typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
      return isThere ? value : refuse(`a whole number from ${least} to ${most}`);
    }
    case "choice":
      return setting.choices.some((choice) => choice === value) ? value : refuse(setting.choices.join(" or "));
    case "list":
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? value
        : refuse("a list of texts");
    case "path":
      return typeof value === "string" && value !== "" ? resolve(directory, value) : refuse("a path");
    case "text":
      if (typeof value !== "string" || value === "") return refuse("a text");
      try {
        return setting.read?.(value) ?? value;
      } catch (error) {
        if (!(error instanceof InvalidArgumentError)) throw error;
        problems.push(`${setting.field}: ${show(value)}: ${messageOf(error)}`);
        return undefined;
      }
  }
}

function explainUnknown(field: string): string {
  const meant = findNearestWord(field.slice(0, MAX_WORD_CHARACTERS), [
    ...UP_SETTINGS.map((one) => one.field),
    "apiVersion",
    "kind",
  ]);
  const mend = meant === undefined ? "see nodelet up --print-config" : `do you mean "${meant}"?`;
  return `unknown field ${show(field)}: ${mend}`;
}

const refusal = (path: string, problems: readonly string[]) =>
  new CodedError("bad-configuration", `${path}: ${problems.join("; ")}`);

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= MAX_WORD_CHARACTERS ? text : `${text.slice(0, MAX_WORD_CHARACTERS)}…`;
}
