import { internalError, isApiError } from "../../../api/api-error.ts";
import { listAtomicParts } from "../../../api/apply/atomic-parts.ts";
import { checkApplied } from "../../../api/apply/check-applied.ts";
import { mergeApplied } from "../../../api/apply/merge.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { applyJsonPatch } from "../../../api/patch/json-patch.ts";
import { servedNode } from "../../../api/schema-node.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { CompiledMutation, NamedProgram } from "../../cel/policies/compile-policy.ts";
import { JSON_PATCH_NAME } from "../../cel/policies/patch-types.ts";
import { jsonOf } from "../../cel/policies/patch-value.ts";
import type { CelValue } from "../../cel/values.ts";
import { decodeChanged, isOwnObject, type ViewedRequest } from "../matching/viewed-request.ts";
import { beginWork, EXHAUSTED, evaluateWithin } from "./evaluate-conditions.ts";
import type { PolicyInput } from "./policy-activation.ts";

/** The object as a mutation leaves it, or the reason why the mutation cannot be made. */
type Mutated = { readonly object: KubeObject } | { readonly problem: string };

/**
 * Makes one mutation of a policy. Throws an InternalError where what comes of it is no object of the kind, which no
 * failure policy passes over.
 */
export function mutateObject(
  { form, program }: CompiledMutation,
  variables: readonly NamedProgram[],
  input: PolicyInput & { readonly object: KubeObject },
): Mutated {
  const { request, object } = input;
  const outcome = evaluateWithin(program, beginWork(input, variables));
  if (outcome === "exhausted") return { problem: EXHAUSTED };
  if ("error" in outcome) return { problem: outcome.error };
  const result = form === "apply" ? layOver(request, object, outcome.value) : patch(object, outcome.value);
  if ("problem" in result) return result;
  // A built-in kind knows its fields; what a custom one does not know is pruned.
  const isStrict = form === "json" && request.view.schema.strategicMerge;
  try {
    return { object: decodeChanged(request, { object, changed: result.changed, isStrict }) };
  } catch (error) {
    if (codeOf(error) !== "unfit-change") throw error;
    throw internalError(messageOf(error));
  }
}

type Changed = { readonly changed: unknown } | { readonly problem: string };

/** Merges what an ApplyConfiguration gave into the object, by the schema of its kind. */
function layOver(request: ViewedRequest, object: KubeObject, value: CelValue): Changed {
  const written = jsonOf(value);
  if ("problem" in written) return { problem: `type mismatch: ${written.problem}` };
  const { apiVersion, kind } = object;
  const configuration = { ...(isRecord(written.json) && written.json), apiVersion, kind };
  const node = isOwnObject(request) ? request.view.schema.node : servedNode(kind);
  const unfit = checkApplied(node, configuration);
  const wrong = (why: string) => ({ problem: `error applying patch: ${why}` });
  if (unfit !== undefined) return wrong(`failed to convert patch object to typed object: ${unfit}`);
  const atomic = listAtomicParts(node, configuration);
  if (atomic.length > 0) {
    return wrong(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(", ")}`);
  }
  return { changed: mergeApplied(node, object, configuration) };
}

/** Applies the operations that a JSONPatch gave. Where one of them tests in vain, none is applied. */
function patch(object: KubeObject, value: CelValue): Changed {
  const operations: unknown[] = [];
  if (typeof value !== "object" || value?.kind !== "list") return { problem: "type mismatch: no list of operations" };
  for (let index = 0; index < value.size; index++) {
    const operation = operationOf(value.at(index));
    if ("problem" in operation) return operation;
    operations.push(operation.json);
  }
  try {
    return { changed: applyJsonPatch(object, operations) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const why = error.details.causes?.[0]?.message ?? error.message;
    return why.endsWith("test failed") ? { changed: object } : { problem: `JSON Patch: ${why}` };
  }
}

function operationOf(value: CelValue): ReturnType<typeof jsonOf> {
  if (typeof value !== "object" || value?.kind !== "map" || value.typeName !== JSON_PATCH_NAME) {
    return { problem: "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch" };
  }
  const text = (name: string) => value.find(name) ?? "";
  const from = text("from");
  const operation = { op: text("op"), path: text("path"), ...(from !== "" && { from }) };
  const operand = value.find("value");
  if (operand === undefined) return { json: operation };
  const written = jsonOf(operand);
  if (!("problem" in written)) return { json: { ...operation, value: written.json } };
  return { problem: `type mismatch: ${written.problem}` };
}
