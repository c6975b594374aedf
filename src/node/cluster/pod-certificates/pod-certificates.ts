import type { Pod, PodCertificateRequest } from "../../../api/gen/types.ts";
import { POD_CERTIFICATE_REQUESTS } from "../../../api/kube-resource.ts";
import { podReference } from "../../../api/pods.ts";
import { aborted, childController, isAbort } from "../../../base/abort.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { MINUTE } from "../../../base/clock.ts";
import { createTasks, type Tasks } from "../../../base/tasks.ts";
import { createReflector, type ReflectorDeps } from "../../../kube/create-reflector.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { Reflector, ReflectorChange } from "../../../kube/reflector.ts";
import { createAlarms } from "../refs/alarms.ts";
import { type Credential, type CredentialHealth, healthOf } from "./credential.ts";
import { type CredentialAnswer, credentialAnswer, type HeldCertificate, newlyHeld } from "./held-certificate.ts";
import { type CertificateProjection, listCertificateProjections, projectionKey } from "./pod-projections.ts";
import { type CertificateStepDeps, createCertificateStep } from "./renew-certificate.ts";

/**
 * The certificates of pods: each `podCertificate` source of a volume has a key of its own, asks its signer for a
 * certificate, and renews it in time. The API is watched only while there is such a pod.
 */
export interface PodCertificates {
  /** What the source can be shown now. */
  credential(source: Omit<CertificateProjection, "projection">): CredentialAnswer;
  /** Registers the pod; called again for a pod that changed. */
  registerPod(pod: Pod): void;
  /** Forgets the pod with its keys. */
  unregisterPod(podUid: string): void;
  /**
   * The listener is called with the pod when one of its sources has something new to show. It must not throw. Returns a
   * function that ends the subscription.
   */
  subscribe(listener: (podUid: string) => void): () => void;
  /** Returns how each source is. */
  health(): Array<{ readonly signerName: string; readonly state: CredentialHealth }>;
  run(signal: AbortSignal): Promise<void>;
}

interface PodCertificatesDeps
  extends ReflectorDeps,
    Omit<CertificateStepDeps, keyof ReflectorDeps | "find" | "onAnswered"> {
  readonly client: ReflectorDeps["client"] & CertificateStepDeps["client"];
}

const RETRIES = { initialMs: 500, maxMs: 5 * MINUTE };
/** Times are of the wall clock, which may jump: each source is looked at this often, as upstream's are. */
const LOOK_MS = MINUTE;
export function createPodCertificates(deps: PodCertificatesDeps): PodCertificates {
  const { clock, random, nodeName } = deps;
  const held = new Map<string, HeldCertificate>();
  const listeners = new Set<(podUid: string) => void>();
  const alarms = createAlarms(clock);
  let tasks: Tasks | undefined;
  let reflector: Reflector<PodCertificateRequest> | undefined;
  let stopped = new AbortController();
  /** Called when the first pod has come or the last has gone. */
  let demandChanged = (): void => undefined;

  const step = createCertificateStep({
    ...deps,
    find: (namespace, name) => reflector?.get(namespace, name),
    onAnswered: (podUid) => {
      for (const listener of listeners) listener(podUid);
    },
  });

  const keepStepping = async (key: string, one: HeldCertificate, signal: AbortSignal) => {
    do {
      one.again = false;
      try {
        await step(one, signal);
        if (held.get(key) === one) alarms.set(key, nextLook(one.credential, clock.now()));
      } catch (error) {
        if (isAbort(error)) throw error;
        if (held.get(key) !== one) return;
        one.failures++;
        one.failure = error;
        alarms.set(key, computeBackOff(one.failures, RETRIES) * (1 + random.next()));
        logFailure(deps, one);
      }
    } while (one.again && !signal.aborted && held.get(key) === one);
  };

  const wake = (key: string) => {
    const one = held.get(key);
    if (one === undefined || tasks === undefined) return;
    one.again = true;
    if (one.isBusy) return;
    one.isBusy = true;
    const { signal } = stopped;
    tasks.spawn(`certificate ${key}`, async () => {
      await keepStepping(key, one, signal).finally(() => {
        one.isBusy = false;
      });
    });
  };

  const wakePods = (changes: ReadonlyArray<ReflectorChange<PodCertificateRequest>>) => {
    const uids = new Set(changes.map(({ object }) => object.spec.podUID));
    for (const [key, { podUid }] of held) if (uids.has(podUid)) wake(key);
  };

  const follow = async (signal: AbortSignal) => {
    const options = { resource: POD_CERTIFICATE_REQUESTS, fieldSelector: `spec.nodeName=${nodeName}` };
    reflector = createReflector(deps, { ...options, onChange: wakePods });
    try {
      for (const key of held.keys()) wake(key);
      await reflector.run(signal);
    } finally {
      reflector = undefined;
    }
  };

  const runUntilDemandChanges = async (signal: AbortSignal) => {
    const { controller, release } = childController(signal);
    demandChanged = () => controller.abort();
    try {
      if (held.size === 0) await aborted(controller.signal);
      else await follow(controller.signal);
    } finally {
      demandChanged = () => undefined;
      release();
    }
  };

  const forget = (key: string) => {
    held.delete(key);
    alarms.clear(key);
    if (held.size === 0) demandChanged();
  };

  return {
    credential: (source) => credentialAnswer(held.get(projectionKey(source)), clock.monotonic()),
    registerPod(pod) {
      const wasIdle = held.size === 0;
      for (const source of listCertificateProjections(pod)) {
        const key = projectionKey(source);
        const known = held.get(key);
        if (known !== undefined) known.pod = pod;
        else held.set(key, newlyHeld(pod, source, clock.monotonic()));
        // Who comes before the requests are followed is woken when they are.
        if (known === undefined && reflector !== undefined) wake(key);
      }
      if (wasIdle && held.size > 0) demandChanged();
    },
    unregisterPod(uid) {
      for (const [key, { podUid }] of held) if (podUid === uid) forget(key);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    health: () => {
      const now = clock.now();
      return [...held.values()].map(({ projection, credential }) => ({
        signerName: projection.signerName,
        state: healthOf(credential, now),
      }));
    },
    async run(signal) {
      const { controller, release } = childController(signal);
      stopped = controller;
      let failed: { readonly error: unknown } | undefined;
      tasks = createTasks((_name, error) => {
        failed ??= { error };
        controller.abort();
      });
      tasks.spawn("renewals", async () => await alarms.run(controller.signal, wake));
      while (!controller.signal.aborted) await runUntilDemandChanges(controller.signal);
      await tasks.settled();
      tasks = undefined;
      release();
      if (failed !== undefined) throw failed.error;
    },
  };
}

/** How long until the source is looked at again, if nothing happens before. */
function nextLook(credential: Credential, now: number): number {
  if (credential.state !== "fresh") return LOOK_MS;
  const left = credential.bundle.refreshAt - now;
  return left > 0 ? Math.min(LOOK_MS, left) : LOOK_MS;
}

function logFailure({ log }: PodCertificatesDeps, { pod, volumeName, projection, failure }: HeldCertificate): void {
  const { namespace, name, uid } = podReference(pod);
  const fields = { pod: `${name}_${namespace}`, uid, volume: volumeName, signer: projection.signerName };
  log.warn("Cannot ask for a pod's certificate", { ...fields, error: describeKubeFailure(failure) });
}
