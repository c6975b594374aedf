import { ApiError } from "../api-error.ts";
import { isRecord } from "../object.ts";
import { isDeeperThan, isEqualJson, ownField } from "./json-value.ts";
import { refuseDeepPatch, undecodablePatchError, unprocessablePatchError } from "./patch-error.ts";
import { type Container, createPatchedDocument, type PatchedDocument, PatchFailure } from "./patched-document.ts";

const MAX_OPERATIONS = 10_000;
/** A document that one patch nests deeper than this, by moving and copying, is refused. */
const MAX_DOCUMENT_DEPTH = 1_000;

/**
 * Returns the document as a JSON patch (RFC 6902) changes it. As upstream has it, a negative index counts from the end,
 * `replace` of a missing field adds it, and `test` takes an absent field for null. Neither argument is changed; the
 * result may share parts with both. Throws BadRequest for a value that is no JSON patch, RequestEntityTooLarge for too
 * many operations, and Invalid (422) for a patch that cannot be applied: then no operation has been applied.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = readOperations(patch);
  try {
    const patched = createPatchedDocument(document);
    for (const operation of operations) applyOperation(patched, operation);
    if (isDeeperThan(patched.root, MAX_DOCUMENT_DEPTH)) throw new PatchFailure("the result is nested too deeply");
    return patched.root;
  } catch (error) {
    if (!(error instanceof PatchFailure)) throw error;
    throw unprocessablePatchError(error.message);
  }
}

type Operation = Readonly<Record<string, unknown>>;

function readOperations(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) throw undecodablePatchError(patch, "[]handlers.jsonPatchOp");
  if (patch.length > MAX_OPERATIONS) {
    const limit = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw new ApiError("RequestEntityTooLarge", `Request entity too large: ${limit}`);
  }
  refuseDeepPatch(patch);
  return patch.map((operation: unknown) => {
    if (!isRecord(operation)) throw undecodablePatchError(operation, "handlers.jsonPatchOp");
    return operation;
  });
}

function applyOperation(document: PatchedDocument, operation: Operation): void {
  const kind = ownField(operation, "op");
  const apply = typeof kind === "string" ? OPERATIONS.get(kind) : undefined;
  if (apply === undefined) throw new PatchFailure(`Unexpected kind: ${typeof kind === "string" ? kind : "unknown"}`);
  apply(document, operation);
}

const OPERATIONS: ReadonlyMap<string, (document: PatchedDocument, operation: Operation) => void> = new Map([
  ["add", add],
  ["remove", remove],
  ["replace", replace],
  ["move", move],
  ["copy", copy],
  ["test", test],
]);

function add(document: PatchedDocument, operation: Operation): void {
  const path = textOf(operation, "path");
  const { container, key } = locate(document, path, `add operation does not apply: doc is missing path: "${path}"`);
  explain(`error in add for path: '${path}'`, () => container.add(key, operandOf(operation)));
}

function remove(document: PatchedDocument, operation: Operation): void {
  const path = textOf(operation, "path");
  const missing = `remove operation does not apply: doc is missing path: "${path}"`;
  const { container, key } = locate(document, path, missing);
  explain(`error in remove for path: '${path}'`, () => container.remove(key));
}

function replace(document: PatchedDocument, operation: Operation): void {
  const path = textOf(operation, "path");
  const value = operandOf(operation);
  if (path === "") {
    if (!isRecord(value) && !Array.isArray(value)) {
      throw new PatchFailure("replace operation value must be object or array");
    }
    document.root = value;
    return;
  }
  const { container, key } = locate(document, path, `replace operation does not apply: doc is missing path: ${path}`);
  if (!container.canReplace(key)) {
    throw new PatchFailure(`replace operation does not apply: doc is missing key: ${path}: missing value`);
  }
  container.replace(key, value);
}

function move(document: PatchedDocument, operation: Operation): void {
  const [from, path] = [textOf(operation, "from"), textOf(operation, "path")];
  const source = locate(document, from, `move operation does not apply: doc is missing from path: ${from}`);
  const value = explain(`error in move for path: '${source.key}'`, () => {
    const moved = source.container.get(source.key);
    source.container.remove(source.key);
    return moved;
  });
  const missing = `move operation does not apply: doc is missing destination path: ${path}`;
  const target = locate(document, path, missing);
  explain(`error in move for path: '${path}'`, () => target.container.add(target.key, value));
}

function copy(document: PatchedDocument, operation: Operation): void {
  const [from, path] = [textOf(operation, "from"), textOf(operation, "path")];
  const source = locate(document, from, `copy operation does not apply: doc is missing from path: ${from}`);
  const value = explain(`error in copy for from: '${from}'`, () => source.container.get(source.key));
  const missing = `copy operation does not apply: doc is missing destination path: ${path}`;
  const target = locate(document, path, missing);
  const copied = document.copyOf(value ?? null);
  explain("error while adding value during copy", () => target.container.add(target.key, copied));
}

function test(document: PatchedDocument, operation: Operation): void {
  const path = textOf(operation, "path");
  const actual = path === "" ? document.root : readTested(document, path);
  if (isEqualJson(actual ?? null, operandOf(operation))) return;
  throw new PatchFailure(`testing value ${path} failed: test failed`);
}

function readTested(document: PatchedDocument, path: string): unknown {
  const { container, key } = locate(document, path, `test operation does not apply: is missing path: ${path}`);
  return explain(`error in test for path: '${path}'`, () => container.get(key));
}

function locate(document: PatchedDocument, path: string, missing: string): { container: Container; key: string } {
  const found = document.locate(path);
  if (found === undefined) throw new PatchFailure(`${missing}: missing value`);
  return found;
}

/** Adds to an error which operation failed, before the reason. */
function explain<Result>(what: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof PatchFailure)) throw error;
    throw new PatchFailure(`${what}: ${error.message}`);
  }
}

function textOf(operation: Operation, field: "path" | "from"): string {
  const value = ownField(operation, field);
  if (typeof value === "string") return value;
  throw new PatchFailure(`${String(ownField(operation, "op"))} operation failed to decode ${field}: missing value`);
}

function operandOf(operation: Operation): unknown {
  return ownField(operation, "value") ?? null;
}
