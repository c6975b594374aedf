import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { activeNamespace, createUnlessGoing, followOnePerNamespace } from "./active-namespaces.ts";

const NAME = "kube-root-ca.crt";
const RESOURCE = "configmaps";
const DESCRIPTION_ANNOTATION = "kubernetes.io/description";
/** Upstream's text, for users who wonder where the config map comes from. */
const DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/**
 * Keeps the config map `kube-root-ca.crt` in every active namespace, which the token volumes of its pods mount. The
 * config map is restored when somebody edits or deletes it (`pkg/controller/certificates/rootcacertpublisher`).
 */
export function createRootCaPublisher(deps: ControllerDeps, { rootCa }: { rootCa: string }): Controller {
  const { reader, writer, feed } = deps;
  const wanted = { "ca.crt": rootCa };
  const repaired = (current: KubeObject): KubeObject | undefined => {
    const map = typed("ConfigMap", current);
    const description = map.metadata?.annotations?.[DESCRIPTION_ANNOTATION];
    const keys = Object.keys(map.data ?? {});
    if (keys.length === 1 && map.data?.["ca.crt"] === rootCa && description && !map.binaryData) return undefined;
    const { binaryData: _removed, ...rest } = map;
    const annotations = { ...map.metadata?.annotations, [DESCRIPTION_ANNOTATION]: DESCRIPTION };
    return untyped({ ...rest, metadata: { ...map.metadata, annotations }, data: wanted });
  };
  const queue = createWorkQueue(deps, {
    name: "root_ca_cert_publisher",
    async reconcile(namespace) {
      if (activeNamespace(reader, namespace) === undefined) return undefined;
      const current = reader.get({ resource: RESOURCE, namespace, name: NAME });
      if (current === undefined) {
        const metadata = { name: NAME, namespace, annotations: { [DESCRIPTION_ANNOTATION]: DESCRIPTION } };
        await createUnlessGoing(
          writer.create(RESOURCE, { apiVersion: "v1", kind: "ConfigMap", metadata, data: wanted }),
        );
        return undefined;
      }
      const next = repaired(current);
      if (next !== undefined) await unlessOvertaken(writer.update(RESOURCE, next));
      return undefined;
    },
  });
  const follow = () => followOnePerNamespace(feed, { resource: RESOURCE, name: NAME }, queue.add);
  return { run: (signal) => runFollowing(queue, follow, signal) };
}
