import type { TopologySelectorTerm } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { isEqualJson } from "../../api/patch/json-value.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { STORAGE_CLASSES } from "./binder-deps.ts";
import { LOCAL_PROVISIONER } from "./local-class.ts";
import { HOSTNAME_LABEL } from "./plan-local-volume.ts";

/**
 * Tells the scheduler, by the `allowedTopologies` of the classes of local storage, which node has the directories. Without
 * it, a cluster of several nodes would send pods to another node again and again. Topologies that an author chose stay;
 * a single host name is ours, because the node may come to have another.
 */
export function createLocalTopology(deps: ControllerDeps, nodeName: string): Controller {
  const { reader, writer, feed } = deps;
  const queue = createWorkQueue(deps, {
    name: "local-topology",
    async reconcile(name) {
      const found = reader.get({ resource: STORAGE_CLASSES, namespace: "", name });
      const node = reader.get({ resource: "nodes", namespace: "", name: nodeName });
      const hostname = node?.metadata.labels?.[HOSTNAME_LABEL];
      if (found === undefined || hostname === undefined) return undefined;
      const storageClass = typed("StorageClass", found);
      const { provisioner, allowedTopologies = [] } = storageClass;
      if (provisioner !== LOCAL_PROVISIONER || !isOwn(allowedTopologies)) return undefined;
      const wanted = [{ matchLabelExpressions: [{ key: HOSTNAME_LABEL, values: [hostname] }] }];
      if (isEqualJson(allowedTopologies, wanted)) return undefined;
      await unlessOvertaken(writer.update(STORAGE_CLASSES, untyped({ ...storageClass, allowedTopologies: wanted })));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow(STORAGE_CLASSES, ({ object }) => queue.add(object.metadata.name ?? "")),
    feed.follow("nodes", ({ object, previous }) => {
      const { name, labels } = object.metadata;
      if (name !== nodeName || labels?.[HOSTNAME_LABEL] === previous?.metadata.labels?.[HOSTNAME_LABEL]) return;
      for (const { metadata } of reader.list(STORAGE_CLASSES)) queue.add(metadata.name ?? "");
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function isOwn(terms: readonly TopologySelectorTerm[]): boolean {
  const [first, ...others] = terms;
  if (first === undefined) return true;
  const [expression, ...more] = first.matchLabelExpressions ?? [];
  return others.length + more.length === 0 && expression?.key === HOSTNAME_LABEL && expression.values.length === 1;
}
