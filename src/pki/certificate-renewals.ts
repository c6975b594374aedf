import { isAbort, sleep } from "../base/abort.ts";
import { type Clock, formatTime, MINUTE } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { CertificateFiles } from "./certificate-folder.ts";
import { type ClusterCertificates, RENEW_BELOW, renewLeaves, type WantedLeaves } from "./cluster-certificates.ts";
import { type KeyedCertificate, readCertificate } from "./read-certificate.ts";

/** A cluster's certificates, kept valid for as long as it runs. */
export interface CertificateRenewals {
  current(): ClusterCertificates;
  /**
   * The listener is called with the certificates after each renewal. One that rejects is called again an hour later,
   * until it has taken them.
   */
  subscribe(listener: CertificateListener): void;
  /** The end of each certificate, by its name: milliseconds since the epoch. */
  expirations(): ReadonlyMap<string, number>;
  /** Renews leaves before they end, until the signal fires. A failure is logged, and what is there stays in use. */
  run(signal: AbortSignal): Promise<void>;
}

type CertificateListener = (certificates: ClusterCertificates) => Promise<void> | void;

interface RenewalDeps {
  readonly files: CertificateFiles;
  readonly clock: Clock;
  readonly log: Log;
}

interface RenewalPlan extends WantedLeaves {
  /** The directory that `first` was read from. */
  readonly directory: string;
  readonly first: ClusterCertificates;
}

/**
 * The time between two looks at the clock, which bounds how long nothing holds after the machine slept or its clock
 * jumped: one without a battery of its own may be years behind until it has asked the network.
 */
const LOOK_MS = MINUTE;
/** What fails is tried again at each so many looks. A leaf is renewed a third of a year before its end. */
const LOOKS_PER_ATTEMPT = 60;
const DAY_MS = 24 * 60 * MINUTE;
/** Certificates that are not renewed here are warned of for this long before they end. */
const WARN_DAYS = 30;

/** Keeps the leaves of `first` valid. The authority is not renewed, because whoever knows it would have to be told. */
export function createCertificateRenewals(deps: RenewalDeps, plan: RenewalPlan): CertificateRenewals {
  const { clock, log } = deps;
  const { directory, ...options } = plan;
  let held = plan.first;
  let stays = computeStay(held);
  const authorityEnd = readCertificate(held.authority.certificatePem).notAfter;
  const listeners = new Set<CertificateListener>();
  /** The listeners that have not taken the present certificates yet. */
  const behind = new Set<CertificateListener>();
  let warnedAt = Number.NEGATIVE_INFINITY;

  const isDue = () => clock.now() < stays.from || clock.now() >= stays.until;

  const renew = async () => {
    if (!isDue()) return;
    const next = await renewLeaves(directory, held, { ...options, files: deps.files, now: clock.now() });
    if (next === held) return;
    held = next;
    stays = computeStay(held);
    for (const note of next.notes) log.info("Renewed a certificate", { directory, note });
    for (const listener of listeners) behind.add(listener);
  };

  const attempt = async (step: () => Promise<void>, failure: string) => {
    await step().catch((error: unknown) => log.error(failure, { directory, error: messageOf(error) }));
  };

  const tell = async () => {
    for (const listener of [...behind]) {
      await attempt(async () => {
        await listener(held);
        behind.delete(listener);
      }, "Renewed certificates could not be put into use yet");
    }
  };

  const warn = () => {
    const left = authorityEnd - clock.now();
    if (left > WARN_DAYS * DAY_MS || clock.now() - warnedAt < DAY_MS) return;
    warnedAt = clock.now();
    log.warn("The cluster's certificate authority ends soon, and all certificates with it: replace it", {
      ...{ path: `${directory}/ca.crt`, expiration: formatTime(authorityEnd), daysLeft: Math.floor(left / DAY_MS) },
    });
  };

  return {
    current: () => held,
    subscribe: (listener) => listeners.add(listener),
    expirations: () => new Map(namedCertificates(held).map(([name, pem]) => [name, readCertificate(pem).notAfter])),
    async run(signal) {
      try {
        let hasFailed = false;
        for (let look = 0; !signal.aborted; look++) {
          if (look % LOOKS_PER_ATTEMPT === 0 || (isDue() && !hasFailed)) {
            warn();
            await attempt(renew, "Certificates could not be renewed, those that are there stay in use");
            await tell();
            hasFailed = isDue();
          }
          await sleep(clock, LOOK_MS, signal);
        }
      } catch (error) {
        if (!isAbort(error)) throw error;
      }
    },
  };
}

/** The time in which no leaf is due, in milliseconds since the epoch, so that a look costs nothing. */
function computeStay({ serving, admin, nodeClient, frontProxy, node, proxy }: ClusterCertificates): {
  from: number;
  until: number;
} {
  const leaves = [serving, admin, nodeClient, frontProxy, ...[node, proxy].filter((leaf) => leaf !== undefined)];
  const facts = leaves.map(({ certificatePem }) => readCertificate(certificatePem));
  return {
    from: Math.max(...facts.map(({ notBefore }) => notBefore)),
    until: Math.min(...facts.map(({ notBefore, notAfter }) => notAfter - (notAfter - notBefore) * RENEW_BELOW)),
  };
}

/** The names are those of the files. */
function namedCertificates(certificates: ClusterCertificates): [string, string][] {
  const { authority, frontAuthority, serving, admin, nodeClient, frontProxy, node, proxy } = certificates;
  const named: [string, KeyedCertificate | undefined][] = [
    ["ca", authority],
    ["front-proxy-ca", frontAuthority],
    ["apiserver", serving],
    ["admin", admin],
    ["apiserver-kubelet-client", nodeClient],
    ["front-proxy-client", frontProxy],
    ["node", node],
    ["proxy", proxy],
  ];
  return named.flatMap(([name, pair]) => (pair === undefined ? [] : [[name, pair.certificatePem]]));
}
