import { type Controller, type ControllerDeps, runFollowing } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { activeNamespace, createUnlessGoing, followOnePerNamespace } from "./active-namespaces.ts";

const NAME = "default";
const RESOURCE = "serviceaccounts";

/**
 * Keeps the service account `default` in every active namespace, because pods that name no account run as it
 * (`pkg/controller/serviceaccount/serviceaccounts_controller.go`). The account is created in the same turn in which the
 * namespace is announced, so that a user who creates a namespace and then a pod finds the account there.
 */
export function createServiceAccountController(deps: ControllerDeps): Controller {
  const { reader, writer, feed } = deps;
  const queue = createWorkQueue(deps, {
    name: "serviceaccount",
    async reconcile(namespace) {
      if (activeNamespace(reader, namespace) === undefined) return undefined;
      if (reader.get({ resource: RESOURCE, namespace, name: NAME }) !== undefined) return undefined;
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME, namespace } };
      await createUnlessGoing(writer.create(RESOURCE, account));
      return undefined;
    },
  });
  const follow = () => followOnePerNamespace(feed, { resource: RESOURCE, name: NAME }, queue.add);
  return { run: (signal) => runFollowing(queue, follow, signal) };
}
