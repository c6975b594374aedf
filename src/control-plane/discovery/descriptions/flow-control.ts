import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

export const FLOW_CONTROL_TYPES: TypeDescriptions = {
  ExemptPriorityLevelConfiguration: {
    is: "A priority level whose requests never wait.",
    fields: {
      lendablePercent: "How much of its share other levels may borrow, in percent, from 0 (default) to 100.",
      nominalConcurrencyShares:
        "The level's share of the server's concurrency in relation to other levels; default 0. Does not limit the level itself.",
    },
  },
  FlowDistinguisherMethod: {
    is: "How the requests of a schema are told apart into flows.",
    fields: { type: "ByUser or ByNamespace." },
  },
  FlowSchema: { is: "Which requests belong together to a priority level. Requests are not queued here.", fields: {} },
  FlowSchemaCondition: {
    is: "How a flow schema stands in one respect.",
    fields: {
      ...CONDITION_FIELDS,
      type: "What the condition is about: Dangling is True when the priority level is missing.",
    },
  },
  FlowSchemaSpec: {
    is: "Which requests belong to which priority level.",
    fields: {
      distinguisherMethod: "How the requests are told apart into flows; default all are one flow.",
      matchingPrecedence:
        "Of several schemas that match a request, the one with the lowest number counts; from 1 to 10000, default 1000.",
      priorityLevelConfiguration: "The priority level of the requests.",
      rules: "Which requests are meant: those that match at least one rule.",
    },
  },
  FlowSchemaStatus: { is: "How a flow schema stands.", fields: { conditions: "The conditions of the schema." } },
  GroupSubject: { is: "A group of users.", fields: { name: "The name of the group; `*` for all." } },
  LimitedPriorityLevelConfiguration: {
    is: "A priority level with a limit to the requests that are served at a time.",
    fields: {
      borrowingLimitPercent:
        "How much the level may borrow from others, in percent of its own share, also above 100; default no limit.",
      lendablePercent: "How much of its share other levels may borrow, in percent, from 0 (default) to 100.",
      limitResponse: "What happens to requests above the limit.",
      nominalConcurrencyShares:
        "The level's share of the server's concurrency in relation to other levels; default 30.",
    },
  },
  LimitResponse: {
    is: "What happens to requests above the limit of a priority level.",
    fields: { queuing: "The queues, for the type Queue.", type: "Queue lets them wait, Reject refuses them." },
  },
  NonResourcePolicyRule: {
    is: "Requests for paths that are no API objects.",
    fields: {
      nonResourceURLs: "The paths; `/*` at the end stands for all below, and `*` alone for every path.",
      verbs: "The HTTP methods in lower case; `*` for all.",
    },
  },
  PolicyRulesWithSubjects: {
    is: "Requests by whom they come from and what they are for.",
    fields: {
      nonResourceRules: "Requests for paths that are no API objects; this or `resourceRules` is needed.",
      resourceRules: "Requests for API objects; this or `nonResourceRules` is needed.",
      subjects: "Who the requests come from; one of them is enough.",
    },
  },
  PriorityLevelConfiguration: {
    is: "How many requests are served at a time. Requests are not queued here.",
    fields: {},
  },
  PriorityLevelConfigurationCondition: {
    is: "How a priority level stands in one respect.",
    fields: {
      ...CONDITION_FIELDS,
      type: "What the condition is about, in one CamelCase word.",
    },
  },
  PriorityLevelConfigurationReference: {
    is: "Names a priority level.",
    fields: { name: "The name of the priority level." },
  },
  PriorityLevelConfigurationSpec: {
    is: "How many requests of a priority level are served at a time.",
    fields: {
      exempt: "The share of a level of the type Exempt; may be left out.",
      limited: "The share and the limit of a level of the type Limited.",
      type: "Exempt lets no request wait, Limited sets a limit to those that are served at a time.",
    },
  },
  PriorityLevelConfigurationStatus: {
    is: "How a priority level stands.",
    fields: { conditions: "The conditions of the priority level." },
  },
  QueuingConfiguration: {
    is: "The queues of a priority level.",
    fields: {
      handSize: "How many queues a flow may use, at most `queues`, default 8; a request joins the shortest of them.",
      queueLengthLimit: "How many requests may wait in one queue, default 50; more are refused.",
      queues: "How many queues there are, default 64.",
    },
  },
  ResourcePolicyRule: {
    is: "Requests for API objects.",
    fields: {
      apiGroups: "The API groups of the resources; an empty string is the core group, `*` stands for all.",
      clusterScope:
        "Whether requests without a namespace are meant, for cluster-wide objects or all namespaces; default false.",
      namespaces: "The namespaces of the objects; `*` for all. May be empty only with `clusterScope`.",
      resources: "The resources in plural, such as `pods` and `nodes/status`; `*` for all.",
      verbs: "What is done, such as `get`, `list` and `watch`; `*` for all.",
    },
  },
  ServiceAccountSubject: {
    is: "A service account, or all of a namespace.",
    fields: {
      name: "The name of the service account; `*` for all of the namespace.",
      namespace: "The namespace of the service account.",
    },
  },
  FlowcontrolSubject: {
    is: "Who requests come from.",
    fields: {
      group: "The group, for the kind Group.",
      kind: "User, Group or ServiceAccount: which of the other fields is set.",
      serviceAccount: "The service account, for the kind ServiceAccount.",
      user: "The user, for the kind User.",
    },
  },
  UserSubject: { is: "A user.", fields: { name: "The name of the user; `*` for all." } },
};
