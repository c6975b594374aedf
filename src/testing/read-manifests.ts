import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isKubeObject, isRecord, type KubeObject } from "../api/object.ts";
import { parseYaml } from "../api/yaml.ts";
import { CodedError, messageOf } from "../base/errors.ts";

const MANIFEST_FILE = /\.(ya?ml|json)$/;
/** Text has line breaks, or is an object or a list in a single line. No path begins like those. */
const TEXT = /[\r\n]|^\s*[{[]/;
const REMOTE = /^https?:/;

/**
 * Reads the objects of sources as `startCluster` takes them, in their order. A directory gives its files by name,
 * without its subdirectories. Rejects with `manifest-unreadable`, naming the source, for a source that cannot be read
 * or holds no object at all.
 */
export async function readManifests(sources: readonly (string | URL | object)[]): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const source of sources) objects.push(...(await readSource(source)));
  return objects;
}

async function readSource(source: string | URL | object): Promise<KubeObject[]> {
  if (typeof source === "string" && TEXT.test(source)) return parseText(source, "the text");
  if (source instanceof URL || typeof source === "string") {
    if (REMOTE.test(String(source))) throw unreadable(String(source), "nothing is downloaded: give a file of your own");
    return readPath(source instanceof URL ? fileURLToPath(source) : source);
  }
  // The copy lacks what JSON cannot express, as if a client had sent it: undefined fields, Date objects.
  const copy: unknown = JSON.parse(JSON.stringify(source));
  return objectsOf(copy, "the object");
}

async function readPath(path: string): Promise<KubeObject[]> {
  const files = await listFiles(path);
  const read = await Promise.all(files.map(async (file) => parseText(await readText(file), file)));
  const objects = read.flat();
  if (objects.length === 0) throw unreadable(path, "there is no object in it");
  return objects;
}

async function listFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path);
    const files = names.filter((name) => MANIFEST_FILE.test(name)).sort();
    return files.map((name) => join(path, name));
  } catch (error) {
    throw unreadable(path, messageOf(error), error);
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw unreadable(file, messageOf(error), error);
  }
}

function parseText(text: string, from: string): KubeObject[] {
  return parseYaml(text).flatMap(({ number, value, errors }) => {
    const [error] = errors;
    if (error !== undefined) throw unreadable(`${from}, document ${number}`, error);
    return objectsOf(value, `${from}, document ${number}`);
  });
}

/**
 * Returns the objects of a value. Lists are taken apart, whether they are the API's (`kind: List`, `kind: PodList`) or
 * JSON's.
 */
function objectsOf(value: unknown, from: string): KubeObject[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => objectsOf(item, `${from}, item ${index + 1}`));
  if (isRecord(value) && Array.isArray(value["items"]) && String(value["kind"]).endsWith("List")) {
    return objectsOf(value["items"], from);
  }
  if (isKubeObject(value)) return [value];
  throw unreadable(from, "a Kubernetes object has apiVersion, kind and metadata");
}

function unreadable(from: string, problem: string, cause?: unknown): Error {
  return new CodedError("manifest-unreadable", `cannot read manifests, ${from}: ${problem}`, { cause });
}
