import { isRecord } from "../api/object.ts";
import { parseYaml } from "../api/yaml.ts";
import { type ConfigurationError, type DecodeReport, decodeFields, type FieldTable } from "./codec.ts";
import { type FeatureGates, resolveFeatureGates } from "./feature-gates.ts";
import { KUBELET_FLAGS } from "./flags.ts";
import {
  computeDerivedDefaults,
  DEFAULT_KUBELET_CONFIGURATION,
  KUBELET_CONFIGURATION_FIELDS,
  type KubeletConfiguration,
} from "./kubelet-configuration.ts";
import { validateKubeletConfiguration } from "./validate-configuration.ts";

/** A configuration file as it was read. */
export interface ConfigurationFile {
  /** The absolute path; relative paths in the file start at its directory. */
  path: string;
  text: string;
}

export interface ConfigurationSources {
  /** The file of `--config`. */
  file?: ConfigurationFile;
  /** The files of `--config-dir`, sorted by name. */
  dropIns: readonly ConfigurationFile[];
  /** The flags that were given, by name. */
  flags: ReadonlyMap<string, unknown>;
}

interface ComposedConfiguration {
  /**
   * The configuration is frozen. It is complete also where there are errors, which then say why it must not be used.
   */
  configuration: KubeletConfiguration;
  featureGates: FeatureGates;
  errors: ConfigurationError[];
  /**
   * The warnings about unknown fields, gates that will be removed, and fields without effect in this build: one
   * sentence each.
   */
  warnings: string[];
}

type RawConfiguration = Readonly<Record<string, unknown>>;

/**
 * Lays flags over drop-ins over the file over the defaults. Drop-ins are merged as JSON merge patches: objects field by
 * field, lists as a whole. A flag replaces a field as a whole. Only feature gates are joined, gate by gate, and the
 * flag's gates win.
 */
export function composeConfiguration(sources: ConfigurationSources): ComposedConfiguration {
  const errors: ConfigurationError[] = [];
  const warnings: string[] = [];
  let merged: RawConfiguration = {};
  for (const file of [...(sources.file ? [sources.file] : []), ...sources.dropIns]) {
    const document = readDocument(file, { errors, warnings });
    if (document !== undefined) merged = mergePatch(KUBELET_CONFIGURATION_FIELDS, merged, document);
  }
  const report: DecodeReport = { errors: [], unknownFields: [] };
  const decoded = decodeFields(KUBELET_CONFIGURATION_FIELDS, merged, "", report) ?? DEFAULT_KUBELET_CONFIGURATION;
  const fromFiles = computeDerivedDefaults(decoded, merged);
  const configuration = freeze(applyFlags(fromFiles, sources.flags));
  const gates = resolveFeatureGates(configuration.featureGates ?? {});
  errors.push(...gates.errors);
  // Wrong types were reported with their file; ranges are checked only where all types are right.
  if (errors.length === 0) errors.push(...validateKubeletConfiguration(configuration, gates.gates));
  warnings.push(...gates.warnings);
  if (errors.length === 0) warnings.push(...noticesOf(merged));
  return { configuration, featureGates: gates.gates, errors, warnings };
}

/**
 * Reads one file as plain values with absolute paths. It is decoded once for its own errors, which then name the file.
 */
function readDocument(
  file: ConfigurationFile,
  found: { errors: ConfigurationError[]; warnings: string[] },
): RawConfiguration | undefined {
  const fail = (message: string) => {
    found.errors.push({ path: file.path, message });
    return undefined;
  };
  // A configuration is one document; anything after it is left out, as kubelet does.
  const [document] = parseYaml(file.text);
  if (document !== undefined && document.errors.length > 0) {
    return fail(`couldn't be read as YAML or JSON: ${document.errors.join(", ")}`);
  }
  if (!isRecord(document?.value)) return fail("must hold an object of kind KubeletConfiguration");
  const { apiVersion, kind, ...fields } = document.value;
  if (kind === undefined) return fail("Object 'Kind' is missing: add `kind: KubeletConfiguration`");
  if (kind !== "KubeletConfiguration" || apiVersion !== "kubelet.config.k8s.io/v1beta1") {
    const got = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? "")}`;
    return fail(`${got}: use kind KubeletConfiguration of kubelet.config.k8s.io/v1beta1`);
  }
  const report: DecodeReport = { errors: [], unknownFields: [] };
  decodeFields(KUBELET_CONFIGURATION_FIELDS, fields, "", report);
  found.errors.push(...report.errors.map(({ path, message }) => ({ path, message: `${message} (in ${file.path})` })));
  const strict = [...report.unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`), ...document.warnings];
  if (strict.length > 0) {
    found.warnings.push(
      `Using lenient decoding as strict decoding failed: ${file.path}: strict decoding error: ${strict.join(", ")}`,
    );
  }
  return resolvePaths(fields, file.path);
}

const PATH_FIELDS = [
  "staticPodPath",
  "authentication.x509.clientCAFile",
  "tlsCertFile",
  "tlsPrivateKeyFile",
  "resolvConf",
  "volumePluginDir",
  "podLogsDir",
];

function resolvePaths(fields: RawConfiguration, filePath: string): RawConfiguration {
  const directory = filePath.slice(0, filePath.lastIndexOf("/"));
  return PATH_FIELDS.reduce((resolved, path) => {
    const current = readPath(resolved, path.split("."));
    const isRelative = typeof current === "string" && current !== "" && !current.startsWith("/");
    return isRelative ? setPath(resolved, path.split("."), joinPaths(directory, current)) : resolved;
  }, fields);
}

function joinPaths(directory: string, relative: string): string {
  const parts: string[] = [];
  for (const part of `${directory}/${relative}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/**
 * Merges as RFC 7396 does, with null meaning "the default again". The merge goes no deeper than the fields that exist,
 * so that aliases in a file cannot blow it up, and leaves out unknown fields.
 */
function mergePatch(
  table: FieldTable | undefined,
  target: RawConfiguration,
  patch: RawConfiguration,
): RawConfiguration {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (table !== undefined && !Object.hasOwn(table, key)) continue;
    const current = merged.get(key);
    if (value === null) merged.delete(key);
    else if (table === undefined || !isRecord(value)) merged.set(key, value);
    else merged.set(key, mergePatch(table[key]?.codec.fields, isRecord(current) ? current : {}, value));
  }
  return Object.fromEntries(merged);
}

function applyFlags(configuration: KubeletConfiguration, flags: ReadonlyMap<string, unknown>): KubeletConfiguration {
  let changed: RawConfiguration = configuration;
  for (const { name, field } of KUBELET_FLAGS) {
    if (field === undefined || !flags.has(name)) continue;
    const given = flags.get(name);
    const value = field === "featureGates" && isRecord(given) ? { ...configuration.featureGates, ...given } : given;
    changed = setPath(changed, field.split("."), value);
  }
  return isConfiguration(changed) ? changed : configuration;
}

/** True for a configuration with all fields. Flags have the types of their fields, so the names are enough. */
function isConfiguration(value: RawConfiguration): value is KubeletConfiguration {
  return Object.keys(KUBELET_CONFIGURATION_FIELDS).every((name) => Object.hasOwn(value, name));
}

function readPath(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  return isRecord(value) && Object.hasOwn(value, name) ? readPath(value[name], rest) : undefined;
}

function setPath(target: unknown, [name, ...rest]: readonly string[], value: unknown): RawConfiguration {
  const base = isRecord(target) ? target : {};
  if (name === undefined) return base;
  return { ...base, [name]: rest.length === 0 ? value : setPath(base[name], rest, value) };
}

/** Reports the fields that files set without any effect in this build, whatever the value. */
function noticesOf(merged: RawConfiguration): string[] {
  return collectIneffective(KUBELET_CONFIGURATION_FIELDS, merged).map(
    (path) => `Field ${path} is accepted but has no effect`,
  );
}

/** The paths of what is set and has no effect. */
function collectIneffective(table: FieldTable, set: RawConfiguration, prefix = ""): string[] {
  return Object.entries(table).flatMap(([name, field]) => {
    const value = Object.hasOwn(set, name) ? set[name] : undefined;
    const path = `${prefix}${name}`;
    if (field.codec.fields !== undefined && isRecord(value)) {
      return collectIneffective(field.codec.fields, value, `${path}.`);
    }
    return field.effect === "works" || isNothing(value, field) ? [] : [path];
  });
}

/** A field that is switched off needs no notice, and neither does one whose zero stands for the default. */
function isNothing(value: unknown, { zeroIsUnset }: FieldTable[string]): boolean {
  if (value === undefined || value === null || value === false) return true;
  if (Array.isArray(value) || isRecord(value)) return Object.keys(value).length === 0;
  return zeroIsUnset && /^(?:0+(?:ms|s|m|h)?)?$/.test(String(value));
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}
