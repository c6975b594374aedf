import { type Controller, type ControllerDeps, runFollowing } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { ensureApiService } from "./bootstrap-cluster.ts";
import { API_SERVICE, type ApiEndpoint } from "./first-objects.ts";

const SLICES = "endpointslices.discovery.k8s.io";

/**
 * Keeps the `kubernetes` service and its endpoints (`pkg/controlplane/controller/kubernetesservice`): they are made anew
 * when somebody deletes them, and the endpoints get their addresses back. What somebody writes to the service stays.
 */
export function createApiServiceKeeper(deps: ControllerDeps, endpoint: ApiEndpoint): Controller {
  const queue = createWorkQueue(deps, {
    name: "kubernetes-service-controller",
    async reconcile() {
      await ensureApiService(deps, endpoint);
      return undefined;
    },
  });
  const follow = () =>
    ["services", "endpoints", SLICES].map((resource) =>
      deps.feed.follow(resource, ({ object: { metadata } }) => {
        if (metadata.name === API_SERVICE.name && metadata.namespace === API_SERVICE.namespace)
          queue.add(API_SERVICE.name);
      }),
    );
  return { run: (signal) => runFollowing(queue, follow, signal) };
}
