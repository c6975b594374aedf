import type { EndpointSlice, Pod, Service, ServicePort } from "../api/gen/types.ts";
import { isPodReady, isTerminalPhase, podContainers } from "../api/pods.ts";
import { nameFew, type ObjectExplanation } from "./explain-object.ts";
import type { Reason } from "./explanation.ts";

/** What is known of a service. */
interface ServiceFacts {
  readonly service: Service;
  /** All pods of its namespace. */
  readonly pods: readonly Pod[];
  /** Its own slices. */
  readonly slices: readonly EndpointSlice[];
  /** Ports of its pods that were called and refused the connection. Default: none was called. */
  readonly closed?: readonly ClosedPort[];
}

/** A port of a pod at which nobody listens. */
export interface ClosedPort {
  readonly pod: string;
  readonly port: number;
}

type Labels = Readonly<Record<string, string>>;

/** Says why a service leads nowhere, or not to all of its pods. Pure. */
export function explainService(facts: ServiceFacts): ObjectExplanation {
  const { metadata, spec = {} } = facts.service;
  const { namespace = "", name = "" } = metadata ?? {};
  const object = { kind: "Service", namespace, name };
  if (spec.type === "ExternalName") {
    return { ...explained(object, `is another name of ${spec.externalName ?? ""}`), waits: [] };
  }
  const endpoints = facts.slices.flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false).length;
  const state = `has ${ready === 0 ? "no endpoints" : `${ready} ${ready === 1 ? "endpoint" : "endpoints"}`}`;
  return { ...explained(object, state), waits: findReasons(facts, { ready, namespace, name }) };
}

const explained = (object: ObjectExplanation["object"], state: string): ObjectExplanation => {
  return { kind: "ObjectExplanation", version: 1, object, state, waits: [], ends: [] };
};

interface ServiceContext {
  readonly ready: number;
  readonly namespace: string;
  readonly name: string;
}

function findReasons({ service, pods, slices, closed = [] }: ServiceFacts, of: ServiceContext): Reason[] {
  const { selector, ports = [], publishNotReadyAddresses = false } = service.spec ?? {};
  const { ready, namespace, name } = of;
  if (selector === undefined || Object.keys(selector).length === 0) return ready > 0 ? [] : [noSelector(of)];
  const alive = pods.filter(({ metadata, status }) => {
    return !isTerminalPhase(status?.phase) && metadata?.deletionTimestamp === undefined;
  });
  const chosen = alive.filter(({ metadata }) => matches(metadata?.labels ?? {}, selector));
  if (chosen.length === 0) return [noPods(alive, selector, of)];
  const isServed = (pod: Pod) => publishNotReadyAddresses || isPodReady(pod);
  const unready = chosen.filter((pod) => !isServed(pod));
  const served = chosen.filter(isServed);
  const reasons = [
    ...(unready.length === 0 ? [] : [notReady(unready, { all: chosen.length, namespace })]),
    ...ports.flatMap((port) => whyNotReached(served, port)),
    ...closed.map(isClosed),
  ];
  if (reasons.length > 0 || ready > 0 || served.length === 0) return reasons;
  const told = slices.length === 0 ? "there is no EndpointSlice" : "no EndpointSlice names them";
  const message = `${served.length} of its pods are ready, and ${told}.`;
  const mend = `See whether the endpoint slice controller runs: kubectl get endpointslices -n ${namespace} -l kubernetes.io/service-name=${name}.`;
  return [{ reason: "NoEndpointSlice", message, mend }];
}

const matches = (labels: Labels, selector: Labels) =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

function noSelector({ namespace, name }: ServiceContext): Reason {
  const mend = `Give it a selector, or make an EndpointSlice in ${namespace} with the label kubernetes.io/service-name=${name}.`;
  return { reason: "NoSelector", message: "It has no selector, and no EndpointSlice names an address for it.", mend };
}

function noPods(pods: readonly Pod[], selector: Labels, { namespace }: ServiceContext): Reason {
  const wanted = formatLabels(selector);
  const message = `No pod of ${namespace} that runs has the labels ${wanted}.`;
  const nearest = findNearest(pods, selector);
  const mend =
    nearest === undefined
      ? `Start pods with these labels, or change the selector: kubectl get pods -n ${namespace} --show-labels.`
      : `Pod ${nearest.name} comes nearest, with ${nearest.differs}: change its labels where they are made, or the selector.`;
  return { reason: "NoPods", message, mend };
}

const formatLabels = (labels: Labels) =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");

/** The pod that has most of the labels, or their keys, and what it has instead of the others. */
function findNearest(pods: readonly Pod[], selector: Labels): { name: string; differs: string } | undefined {
  const scored = pods.map(({ metadata }) => {
    const { labels = {}, name = "" } = metadata ?? {};
    const keys = Object.keys(selector);
    const score =
      keys.filter((key) => labels[key] === selector[key]).length * 2 + keys.filter((key) => key in labels).length;
    const wrong = keys.filter((key) => labels[key] !== selector[key]);
    const differs = wrong.map((key) => (key in labels ? `${key}=${labels[key]}` : `no label ${key}`)).join(", ");
    return { name, differs, score };
  });
  const best = scored.toSorted((a, b) => b.score - a.score)[0];
  return best === undefined || best.score === 0 ? undefined : best;
}

function notReady(pods: readonly Pod[], { all, namespace }: { all: number; namespace: string }): Reason {
  const names = pods.map(({ metadata }) => metadata?.name ?? "");
  const message =
    pods.length === all
      ? `None of its ${all} pods is ready: ${nameFew(names)}.`
      : `${pods.length} of its ${all} pods get nothing, because they are not ready: ${nameFew(names)}.`;
  return { reason: "PodsNotReady", message, mend: `See why: nodelet explain pod ${names[0]} -n ${namespace}.` };
}

/** Why a port of the service leads to none of the pods' ports, or perhaps not where it should. */
function whyNotReached(pods: readonly Pod[], { name = "", port, targetPort, protocol = "TCP" }: ServicePort): Reason[] {
  const declared = pods.map((pod) => ({ pod, ports: portsOf(pod, protocol) }));
  const shown = name === "" ? `${port}` : `${name} (${port})`;
  if (typeof targetPort === "string" && targetPort !== "") {
    const lacking = declared.filter(({ ports }) => !ports.some((one) => one.name === targetPort));
    const [first] = lacking;
    if (first === undefined) return [];
    const names = first.ports.flatMap((one) => one.name ?? []);
    const has = names.length === 0 ? "its ports have no names" : `it has ${names.join(", ")}`;
    const pod = first.pod.metadata?.name ?? "";
    const message = `Port ${shown} leads to the port ${targetPort}, and no ${protocol} port of pod ${pod} has that name: ${has}.`;
    return [
      {
        reason: "PortNotFound",
        message,
        mend: "Give the container's port that name, or the service the port's name or number.",
      },
    ];
  }
  const number = targetPort === undefined || targetPort === 0 || targetPort === "" ? port : Number(targetPort);
  const odd = declared.find(({ ports }) => ports.length > 0 && !ports.some((one) => one.containerPort === number));
  if (odd === undefined) return [];
  const others = odd.ports.map(({ containerPort }) => containerPort).join(", ");
  const message = `Port ${shown} leads to the port ${number}, and pod ${odd.pod.metadata?.name} declares only ${others}.`;
  const mend = `If connections are refused, set targetPort to the port at which the program listens, perhaps ${others}.`;
  return [{ reason: "PortNotDeclared", message, mend }];
}

function portsOf(pod: Pod, protocol: string) {
  const ports = podContainers(pod).flatMap(({ container }) => container.ports ?? []);
  return ports.filter((port) => (port.protocol ?? "TCP") === protocol);
}

function isClosed({ pod, port }: ClosedPort): Reason {
  const message = `Pod ${pod} refuses connections to the port ${port}: nobody listens there.`;
  const mend =
    "Set targetPort to the port at which the program listens, and see that it listens on all addresses, not on 127.0.0.1.";
  return { reason: "PortClosed", message, mend };
}
