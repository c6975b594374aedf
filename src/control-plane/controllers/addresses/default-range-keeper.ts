import { typed, untyped } from "../../../api/object.ts";
import { DEFAULT_SERVICE_RANGE, SERVICE_RANGES, withReadiness } from "../../../api/service-addresses.ts";
import { formatTime } from "../../../base/clock.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../../control-loop/controller.ts";
import { createEventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";

const COMPONENT = "kubernetes-service-cidr-controller";
const MESSAGE = "Kubernetes default Service CIDR is ready";

/**
 * Keeps the range that the control plane is started with (`pkg/controlplane/controller/defaultservicecidr`): it is made
 * anew when somebody deletes it, and gets its second family when the control plane gets one. One of other addresses stays
 * as it is, and an event says so.
 */
export function createDefaultRangeKeeper(deps: ControllerDeps, { cidrs }: { cidrs: readonly string[] }): Controller {
  const { reader, feed, log } = deps;
  const events = createEventRecorder(deps, COMPONENT);
  const queue = createWorkQueue(deps, {
    name: COMPONENT,
    async reconcile() {
      if ((await ensureDefaultRange(deps, cidrs)) !== "differs") return undefined;
      const about = reader.get({ resource: SERVICE_RANGES, namespace: "", name: DEFAULT_SERVICE_RANGE });
      if (about === undefined) return undefined;
      const own = (typed("ServiceCIDR", about).spec?.cidrs ?? []).join(" ");
      const message = `The default ServiceCIDR [${own}] does not match the controller flag configurations [${cidrs.join(" ")}]`;
      const mend = "delete the ServiceCIDR kubernetes: it comes back as wanted when no service needs it any more";
      log.warn("the default range of services is another than --service-cidr", { own, wanted: cidrs.join(" "), mend });
      events.record({ about, type: "Warning", reason: "KubernetesDefaultServiceCIDRInconsistent", message });
      return undefined;
    },
  });
  const follow = () => [
    feed.follow(SERVICE_RANGES, ({ object }) => {
      if (object.metadata.name === DEFAULT_SERVICE_RANGE) queue.add(DEFAULT_SERVICE_RANGE);
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

/**
 * Makes the default range, ready at once because the first services need it. Returns `differs` for one with other
 * addresses, which stays.
 */
export async function ensureDefaultRange(
  { reader, writer, clock }: Pick<ControllerDeps, "reader" | "writer" | "clock">,
  cidrs: readonly string[],
): Promise<"differs" | "agrees"> {
  const named = { resource: SERVICE_RANGES, namespace: "", name: DEFAULT_SERVICE_RANGE };
  if (reader.get(named) === undefined) {
    const metadata = { name: DEFAULT_SERVICE_RANGE };
    const range = { apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata, spec: { cidrs: [...cidrs] } };
    await unlessOvertaken(writer.create(SERVICE_RANGES, range));
  }
  const object = reader.get(named);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return "agrees";
  let range = typed("ServiceCIDR", object);
  const own = range.spec?.cidrs ?? [];
  if (own.length === 1 && cidrs.length === 2 && own[0] === cidrs[0]) {
    range = typed(
      "ServiceCIDR",
      await writer.update(SERVICE_RANGES, untyped({ ...range, spec: { cidrs: [...cidrs] } })),
    );
  } else if (own.join() !== cidrs.join()) {
    return "differs";
  }
  if ((range.status?.conditions ?? []).length > 0) return "agrees";
  const readiness = { isReady: true, reason: "", message: MESSAGE, at: formatTime(clock.now()) };
  const status = withReadiness(range, readiness);
  await unlessOvertaken(writer.update(SERVICE_RANGES, untyped({ ...range, ...(status && { status }) }), "status"));
  return "agrees";
}
