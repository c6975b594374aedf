import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { clusterIpsOf, DEFAULT_SERVICE_RANGE, rangeHas, SERVICE_RANGES } from "../../../api/service-addresses.ts";
import { type ControllerDeps, unlessOvertaken } from "../../control-loop/controller.ts";
import type { ObjectName } from "../../ports/resources.ts";

type MoveDeps = Pick<ControllerDeps, "reader" | "writer" | "log">;

const NAMED = { resource: SERVICE_RANGES, namespace: "", name: DEFAULT_SERVICE_RANGE };

/**
 * Makes room for another default range than the one of the last start: takes that one away, and with it those of our own
 * services that have addresses of it, which the start makes anew. Services of others keep their addresses, for which a range
 * by another name is left, which is asked after the new one. Where the process ends in between, the next start goes on. Upstream leaves all of it to an
 * administrator, and its API server and DNS are then where nobody looks for them.
 */
export async function moveDefaultRange(
  { reader, writer, log }: MoveDeps,
  cidrs: readonly string[],
  ownServices: readonly ObjectName[],
): Promise<void> {
  const found = reader.get(NAMED);
  if (found === undefined) return;
  const former = typed("ServiceCIDR", found);
  const next = { spec: { cidrs: [...cidrs] } };
  const isStranded = (service: KubeObject) =>
    clusterIpsOf(typed("Service", service)).some((address) => rangeHas(former, address) && !rangeHas(next, address));
  for (const name of ownServices) {
    const service = reader.get(name);
    if (service !== undefined && isStranded(service)) await unlessOvertaken(writer.remove(name));
  }
  const stranded = reader.list("services").filter(isStranded);
  if (stranded.length > 0) await unlessOvertaken(writer.create(SERVICE_RANGES, formerRange(former.spec?.cidrs ?? [])));
  const { finalizers: _held, ...metadata } = found.metadata;
  await unlessOvertaken(writer.update(SERVICE_RANGES, untyped({ ...former, metadata })));
  if (reader.get(NAMED) !== undefined) await unlessOvertaken(writer.remove(NAMED));
  log.warn("services have another range than at the last start", {
    before: (former.spec?.cidrs ?? []).join(),
    now: cidrs.join(),
    servicesOfBefore: stranded.length,
    mend: "start pods of before anew, which look for the API server and names at the old addresses; make services of before anew",
  });
}

/** The range of the addresses that services of before keep, by a name that tells it. */
function formerRange(cidrs: readonly string[]): KubeObject {
  const name = `${DEFAULT_SERVICE_RANGE}-former-${cidrs.join("-").replaceAll(/[/:]+/g, "-")}`;
  return { apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name }, spec: { cidrs: [...cidrs] } };
}
