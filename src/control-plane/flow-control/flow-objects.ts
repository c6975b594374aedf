import type { FlowSchema, PolicyRulesWithSubjects, PriorityLevelConfiguration } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import type { AccessAttributes } from "../ports/request.ts";
import type { ResourceFeed } from "../ports/resources.ts";
import { takesRequest } from "./flow-rule-match.ts";

export const FLOW_SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io";
export const PRIORITY_LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";

/** How a priority level treats its requests. */
export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  /** Its requests are never limited. */
  readonly isExempt: boolean;
  /** Its part of the seats, and which part of that it lends. */
  readonly shares: number;
  readonly lendablePercent: number;
  /** How much it may borrow, as a part of what it has; undefined for all that there is. */
  readonly borrowingLimitPercent: number | undefined;
  /** How many requests may wait; undefined where none does. */
  readonly queuing: { readonly perFlow: number; readonly inAll: number } | undefined;
}

/** The requests that are served in one line: those of a schema that have the same distinguisher. */
export interface Flow {
  readonly schema: { readonly name: string; readonly uid: string };
  readonly level: PriorityLevel;
  /** The user, the namespace, or "" where the schema tells nobody apart. */
  readonly distinguisher: string;
}

/** The flow schemas and priority levels, as they are now. */
interface FlowObjects {
  /** Undefined only until the mandatory objects are there. It never waits. */
  classify(asked: AccessAttributes): Flow | undefined;
  levels(): Iterable<PriorityLevel>;
  /** Calls the listener after each change of a level. There is one listener. */
  onLevels(listener: () => void): void;
}

/** Follows the objects for as long as the process lives. */
export function followFlowObjects(feed: ResourceFeed): FlowObjects {
  let onLevels = () => {};
  const schemas = new Map<string, FlowSchema>();
  const levels = new Map<string, PriorityLevel>();
  let ordered: readonly OrderedSchema[] | undefined;
  feed.follow(FLOW_SCHEMAS, ({ type, object }) => {
    const { name = "" } = object.metadata;
    if (type === "DELETED") schemas.delete(name);
    else schemas.set(name, typed("FlowSchema", object));
    ordered = undefined;
  });
  feed.follow(PRIORITY_LEVELS, ({ type, object }) => {
    const { name = "" } = object.metadata;
    if (type === "DELETED") levels.delete(name);
    else levels.set(name, levelOf(typed("PriorityLevelConfiguration", object)));
    onLevels();
  });
  return {
    classify(asked) {
      ordered ??= [...schemas.values()].toSorted(byPrecedence).map(orderedSchemaOf);
      for (const { schema, levelName, rules, method } of ordered) {
        const level = levels.get(levelName);
        // A schema without its level takes no requests.
        if (level === undefined || !takesRequest(rules, asked)) continue;
        return { schema, level, distinguisher: distinguisherOf(method, asked) };
      }
      return undefined;
    },
    levels: () => levels.values(),
    onLevels(listener) {
      onLevels = listener;
    },
  };
}

interface OrderedSchema {
  readonly schema: Flow["schema"];
  readonly levelName: string;
  readonly rules: readonly PolicyRulesWithSubjects[];
  readonly method: string | undefined;
}

function orderedSchemaOf({ metadata, spec }: FlowSchema): OrderedSchema {
  const { name = "", uid = "" } = metadata ?? {};
  const { priorityLevelConfiguration, rules = [], distinguisherMethod } = spec ?? {};
  const levelName = priorityLevelConfiguration?.name ?? "";
  return { schema: { name, uid }, levelName, rules, method: distinguisherMethod?.type };
}

function byPrecedence(one: FlowSchema, other: FlowSchema): number {
  const difference = precedenceOf(one) - precedenceOf(other);
  return difference === 0 ? ((one.metadata?.name ?? "") < (other.metadata?.name ?? "") ? -1 : 1) : difference;
}

const precedenceOf = ({ spec }: FlowSchema) => spec?.matchingPrecedence ?? 0;

function distinguisherOf(method: string | undefined, asked: AccessAttributes): string {
  switch (method) {
    case "ByUser":
      return asked.user.username;
    case "ByNamespace":
      return "path" in asked ? "" : asked.namespace;
    default:
      return "";
  }
}

function levelOf({ metadata, spec }: PriorityLevelConfiguration): PriorityLevel {
  const { name = "", uid = "" } = metadata ?? {};
  const { exempt, limited } = spec ?? { type: "" };
  const { nominalConcurrencyShares: shares = 0, lendablePercent = 0 } = limited ?? exempt ?? {};
  const { handSize = 0, queues = 0, queueLengthLimit = 0 } = limited?.limitResponse?.queuing ?? {};
  const queuing = { perFlow: handSize * queueLengthLimit, inAll: queues * queueLengthLimit };
  return {
    ...{ name, uid, shares, lendablePercent },
    isExempt: spec?.type === "Exempt",
    borrowingLimitPercent: limited?.borrowingLimitPercent,
    queuing: limited?.limitResponse?.type === "Queue" ? queuing : undefined,
  };
}
