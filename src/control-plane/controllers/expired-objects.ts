import { readBootstrapToken } from "../../api/bootstrap-token.ts";
import { isRecord, type KubeObject, typed } from "../../api/object.ts";
import { MINUTE, parseTime } from "../../base/clock.ts";
import type { Controller, ControllerDeps } from "../control-loop/controller.ts";
import { createExpiryController } from "./expiry-controller.ts";

const HOUR = 60 * MINUTE;
/** The lifetime of events, as `--event-ttl`. */
const EVENT_TTL_MS = HOUR;
const HANDLED_REQUEST_TTL_MS = HOUR;
const PENDING_REQUEST_TTL_MS = 24 * HOUR;
const POD_CERTIFICATE_REQUEST_TTL_MS = 15 * MINUTE;

/** Deletes events an hour after they were last written, when the lease ends under which upstream stores them. */
export function createEventCleaner(deps: ControllerDeps): Controller {
  return createExpiryController(deps, {
    name: "event-ttl",
    resource: "events",
    expiresAt: (event, now) => lastWriteOf(event, now) + EVENT_TTL_MS,
  });
}

/** The time of the event's last write, in milliseconds. Times in the future are a mistake and keep no event alive. */
function lastWriteOf(event: KubeObject, now: number): number {
  const { creationTimestamp, managedFields = [] } = event.metadata;
  const { lastTimestamp, series } = event;
  const times = [creationTimestamp, ...managedFields.map(({ time }) => time), lastTimestamp];
  if (isRecord(series)) times.push(series["lastObservedTime"]);
  const known = times.flatMap((time) => (typeof time === "string" ? (parseTime(time) ?? []) : []));
  const past = known.filter((time) => time <= now);
  return past.length === 0 ? now : Math.max(...past);
}

/**
 * Deletes certificate requests an hour after they were issued or denied, and after a day without an answer
 * (`csrcleaner`).
 */
export function createCertificateRequestCleaner(deps: ControllerDeps): Controller {
  return createExpiryController(deps, {
    name: "csrcleaner",
    resource: "certificatesigningrequests.certificates.k8s.io",
    expiresAt: requestDeadline,
  });
}

function requestDeadline(object: KubeObject): number | undefined {
  const { metadata, status = {} } = typed("CertificateSigningRequest", object);
  const { conditions = [], certificate } = status;
  if (conditions.length === 0) return after(metadata?.creationTimestamp, PENDING_REQUEST_TTL_MS);
  const deadlines = conditions.flatMap(({ type, lastUpdateTime }) => {
    const isHandled = type === "Denied" || (type === "Approved" && certificate !== undefined);
    return isHandled ? (after(lastUpdateTime, HANDLED_REQUEST_TTL_MS) ?? []) : [];
  });
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

function after(time: string | undefined, ms: number): number | undefined {
  const start = parseTime(time);
  return start === undefined ? undefined : start + ms;
}

/**
 * Deletes the requests for pods' certificates a quarter of an hour after they were made, whatever has become of them: the
 * node has what was issued (`podcertificaterequestcleaner`).
 */
export function createPodCertificateRequestCleaner(deps: ControllerDeps): Controller {
  return createExpiryController(deps, {
    name: "podcertificaterequestcleaner",
    resource: "podcertificaterequests.certificates.k8s.io",
    expiresAt: ({ metadata }) => after(metadata.creationTimestamp, POD_CERTIFICATE_REQUEST_TTL_MS),
  });
}

/** Deletes bootstrap tokens when they expire (`tokencleaner`). A token whose expiration is no time has expired. */
export function createBootstrapTokenCleaner(deps: ControllerDeps): Controller {
  return createExpiryController(deps, {
    name: "token_cleaner",
    resource: "secrets",
    expiresAt: (object) => readBootstrapToken(object)?.expiresAt,
  });
}
