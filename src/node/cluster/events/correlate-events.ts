import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { createTokenBucket, type TokenBucket } from "../../../base/token-bucket.ts";
import type { NodeEvent } from "./make-event.ts";

/** What must be written about an event that just happened. */
export interface CorrelatedEvent {
  readonly event: NodeEvent;
  /** True when the API server has been told of the event before. Then only a patch is needed. */
  readonly isRepeated: boolean;
}

/**
 * Keeps events few, as client-go's EventCorrelator does (client-go/tools/record/events_cache.go): repeated events are
 * counted, similar ones become one, and events about an object that has too many are dropped.
 */
interface EventCorrelator {
  /**
   * `at` is when the event happened, in monotonic milliseconds. The result is undefined for an event that must be left
   * out. Progress, which its source limits, is one event whatever it tells, and takes nothing of its object's rate.
   */
  correlate(event: NodeEvent, at: number, kind?: { isProgress: boolean | undefined }): CorrelatedEvent | undefined;
}

const MAX_ENTRIES = 4_096;
/**
 * The number of messages with one reason in the interval from which on they are combined. Fewer are told one by one.
 */
const MAX_SIMILAR_EVENTS = 10;
const SIMILAR_INTERVAL_MS = 600_000;
/** The rate of events from one source about one object. */
const SPAM_RATE = { perSecond: 1 / 300, burst: 25 };

export function createEventCorrelator(): EventCorrelator {
  const aggregate = createAggregator();
  const observe = createObserver();
  const isSpam = createSpamFilter();
  return {
    correlate(made, at, { isProgress } = { isProgress: false }) {
      if (isProgress) return observe(made, progressKey(made));
      const { event, key } = aggregate(made, at);
      // An event is counted before it is filtered, so that events left out show in the count of the next one that is
      // sent.
      const observed = observe(event, key);
      return isSpam(observed.event, at) ? undefined : observed;
    },
  };
}

interface SimilarEvents {
  /** Digests of the messages; the oldest go first. */
  readonly messages: Set<string>;
  readonly at: number;
}

/** Combines events of one reason about one object that differ in their messages: more than a few become one event. */
function createAggregator(): (event: NodeEvent, at: number) => { event: NodeEvent; key: string } {
  const similar = new LRUCache<string, SimilarEvents>({ max: MAX_ENTRIES });
  return (event, at) => {
    const groupKey = keyOf(event, [event.type, event.reason]);
    const known = similar.get(groupKey);
    const isCurrent = known !== undefined && at - known.at <= SIMILAR_INTERVAL_MS;
    const messages = isCurrent ? known.messages : new Set<string>();
    messages.add(digest([event.message]));
    similar.set(groupKey, { messages, at });
    if (messages.size < MAX_SIMILAR_EVENTS) return { event, key: eventKey(event) };
    const [oldest] = messages;
    if (oldest !== undefined) messages.delete(oldest);
    const combined = { ...event, message: `(combined from similar events): ${event.message}` };
    return { event: combined, key: groupKey };
  };
}

interface Observation {
  readonly count: number;
  readonly name: string;
  readonly firstTimestamp: string;
}

/** Counts events. An event that was seen before keeps its name and its first time, and its count grows by one. */
function createObserver(): (event: NodeEvent, key: string) => CorrelatedEvent {
  const observations = new LRUCache<string, Observation>({ max: MAX_ENTRIES });
  return (event, key) => {
    const before = observations.get(key);
    const { name, firstTimestamp } = before ?? { name: event.metadata.name, firstTimestamp: event.firstTimestamp };
    const count = (before?.count ?? 0) + 1;
    observations.set(key, { count, name, firstTimestamp });
    const counted = { ...event, metadata: { ...event.metadata, name }, firstTimestamp, count };
    return { event: counted, isRepeated: before !== undefined };
  };
}

function createSpamFilter(): (event: NodeEvent, at: number) => boolean {
  const buckets = new LRUCache<string, TokenBucket>({ max: MAX_ENTRIES });
  return (event, at) => {
    const key = keyOf(event, []);
    const bucket = buckets.get(key) ?? createTokenBucket(SPAM_RATE, at);
    buckets.set(key, bucket);
    return !bucket.tryTake(at);
  };
}

function eventKey(event: NodeEvent): string {
  return keyOf(event, [event.involvedObject.fieldPath ?? "", event.type, event.reason, event.message]);
}

function progressKey(event: NodeEvent): string {
  return keyOf(event, ["progress", event.involvedObject.fieldPath ?? "", event.reason]);
}

/**
 * Makes the key of an event. The source is always this node's kubelet, so the key holds the object and what else
 * distinguishes two events.
 */
function keyOf({ involvedObject }: NodeEvent, parts: readonly string[]): string {
  const { kind = "", namespace = "", name = "", uid = "", apiVersion = "" } = involvedObject;
  return digest([kind, namespace, name, uid, apiVersion, ...parts]);
}

/** Shortens a key, because messages may be long and thousands of keys are kept. */
function digest(parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "base64");
}
