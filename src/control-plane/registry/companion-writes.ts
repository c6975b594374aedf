import type { KubeObject } from "../../api/object.ts";
import type { StoreWrite } from "../ports/object-store.ts";
import type { Companion, ResourceKind } from "../ports/resource-kind.ts";
import { keysOf } from "./keys.ts";
import { stampCreated } from "./metadata.ts";
import { storedForm } from "./object-view.ts";
import { createReader } from "./reader.ts";
import { recordCreation } from "./record-creation.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/** Upstream's API server writes such objects in its own name. */
const WRITER = "kube-apiserver";

/** The writes of what comes and goes with an object, which are to be one write with that of the object itself. */
export function companionWrites(
  deps: RegistryDeps,
  { strategy }: ResourceKind,
  { next, current }: { next: KubeObject | undefined; current: KubeObject | undefined },
): StoreWrite[] {
  const companions = strategy.accompany?.(next, current, createReader(deps.store, deps.kinds)) ?? [];
  return companions.flatMap((companion) => {
    const kind = deps.kinds.stored(companion.resource);
    return kind === undefined ? [] : [writeOf(deps, kind, companion)];
  });
}

function writeOf(deps: RegistryDeps, kind: ResourceKind, companion: Companion): StoreWrite {
  const keys = keysOf(kind);
  if (companion.type === "remove") return { type: "remove", key: keys.of(companion.namespace, companion.name) };
  const now = deps.now();
  const stamped = stampCreated(kind, companion.object, { now, uid: deps.newUid(), suffix: "" });
  const { namespace = "", name = "" } = stamped.metadata;
  const object = recordCreation(kind, stamped, { manager: WRITER, now });
  return { type: "put", key: keys.of(namespace, name), object: storedForm(kind, object) };
}
