import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

const ADDRESSES = "The addresses of the server, by where the client is.";
const API_VERSION = "The group and version that this object itself is written in, `v1`.";
const OPERATOR = "In, NotIn, Exists or DoesNotExist.";
const VALUES = "The values for In and NotIn; empty for the others.";
const SELF_LINK = "No longer used.";

export const META_TYPES: TypeDescriptions = {
  APIGroup: {
    is: "A group of the API, and the versions in which it is served.",
    fields: {
      apiVersion: API_VERSION,
      kind: "Always `APIGroup`.",
      name: "The name of the group, `apps`.",
      preferredVersion: "The version that clients should use.",
      serverAddressByClientCIDRs: ADDRESSES,
      versions: "The versions in which the group is served.",
    },
  },
  APIGroupList: {
    is: "The groups of the API, except the core group.",
    fields: { apiVersion: API_VERSION, groups: "The groups.", kind: "Always `APIGroupList`." },
  },
  APIResource: {
    is: "A resource of the API, and what can be done with it.",
    fields: {
      categories: "Names that stand for several resources together, such as `all`.",
      group: "The group of the resource's objects; empty when it is that of the list.",
      kind: "The kind of the resource's objects.",
      name: "The plural name, as paths have it; `pods/log` for a subresource.",
      namespaced: "Whether the objects are in namespaces.",
      shortNames: "Shorter names for commands, such as `po`.",
      singularName: "The name of a single object, `pod`.",
      storageVersionHash: "Changes when the objects are stored in another version; to be compared for equality only.",
      verbs: "What can be done: get, list, watch, create, update, patch, delete, deletecollection.",
      version: "The version of the resource's objects; empty when it is that of the list.",
    },
  },
  APIResourceList: {
    is: "The resources of a group in one version.",
    fields: {
      apiVersion: API_VERSION,
      groupVersion: "The group and version of the resources, `apps/v1`.",
      kind: "Always `APIResourceList`.",
      resources: "The resources and their subresources.",
    },
  },
  APIVersions: {
    is: "The versions of the core group.",
    fields: {
      apiVersion: API_VERSION,
      kind: "Always `APIVersions`.",
      serverAddressByClientCIDRs: ADDRESSES,
      versions: "The versions in which the core group is served.",
    },
  },
  Condition: {
    is: "One thing that is known about the state of an object.",
    fields: {
      ...CONDITION_FIELDS,
      observedGeneration: "The generation of the object that this status is about.",
      type: "The name of the condition, in CamelCase, perhaps after a domain, `example.com/Ready`.",
    },
  },
  DeleteOptions: {
    is: "How an object is deleted.",
    fields: {
      apiVersion: API_VERSION,
      dryRun: "With `All` the request is checked and nothing is deleted.",
      gracePeriodSeconds:
        "How long a pod may take to end, in seconds; 0 means no time, and the default is its " +
        "terminationGracePeriodSeconds. Other kinds have no such time.",
      ignoreStoreReadErrorWithClusterBreakingPotential:
        "Deletes an object that cannot be read from the store any more, whatever its finalizers. Needs the feature " +
        "gate AllowUnsafeMalformedObjectDeletion, off by default.",
      kind: "Always `DeleteOptions`.",
      orphanDependents: "Deprecated: use `propagationPolicy`.",
      preconditions: "What must be true of the object; otherwise it is not deleted.",
      propagationPolicy:
        "What becomes of objects that belong to this one: Background (they go after it), Foreground (before it) or " +
        "Orphan (they stay). The default depends on the kind, and is mostly Background.",
    },
  },
  FieldSelectorRequirement: {
    is: "A condition on a field.",
    fields: { key: "The path of the field.", operator: OPERATOR, values: VALUES },
  },
  GroupResource: {
    is: "Names a resource of the API.",
    fields: { group: "The group; empty means the core group.", resource: "The plural name of the resource." },
  },
  GroupVersionForDiscovery: {
    is: "A version of a group of the API.",
    fields: { groupVersion: "The group and version, `apps/v1`.", version: "The version alone, `v1`." },
  },
  LabelSelector: {
    is: "Which objects are meant, by their labels. An empty selector means all.",
    fields: {
      matchExpressions: "Conditions on labels, all of which must hold.",
      matchLabels: "Labels that must have exactly these values.",
    },
  },
  LabelSelectorRequirement: {
    is: "A condition on a label.",
    fields: { key: "The key of the label.", operator: OPERATOR, values: VALUES },
  },
  ListMeta: {
    is: "What the server says about a list.",
    fields: {
      continue: "What to send for the next part of the list; empty at its end.",
      remainingItemCount: "How many objects are still to come; not known when there was a selector.",
      resourceVersion: "The state that the list shows; a watch can go on from there.",
      selfLink: SELF_LINK,
      shardInfo:
        "Which shard of the objects the list holds, when one was asked for. Needs the feature gate " +
        "ShardedListAndWatch, off by default.",
    },
  },
  ManagedFieldsEntry: {
    is: "The fields that one manager has set.",
    fields: {
      apiVersion: "The group and version of the object in which the fields are named.",
      fieldsType: "The form of the fields; always FieldsV1.",
      fieldsV1: "The fields, as a tree: `f:` before a field, `k:` before the key of an item, `v:` before a value.",
      manager: "The name of the manager, mostly a program.",
      operation: "How the fields were set: Apply (server-side apply) or Update (any other way).",
      subresource: "The subresource by which they were set, such as `status`; empty for the object itself.",
      time: "When the manager last changed a field.",
    },
  },
  ObjectMeta: {
    is: "What every object has: its name, its labels, and what the server keeps about it.",
    fields: {
      annotations: "Notes of any kind by key; nothing selects by them.",
      creationTimestamp: "CreationTimestamp is a timestamp of the server: when it created the object.",
      deletionGracePeriodSeconds: "How long the object may take to go. Set by the server.",
      deletionTimestamp: "When the object should be gone, once its deletion was asked for. Set by the server.",
      finalizers: "Who has work to do before the object may go; each removes its own entry.",
      generateName: "The start of a name that the server completes, when there is no name.",
      generation: "Counts the changes of what is wanted. Set by the server.",
      labels: "Values by key, for people and selectors.",
      managedFields: "Who set which fields. Kept by the server for server-side apply.",
      name: "The object's name, unique among its kind in its namespace. Cannot be changed.",
      namespace: "The namespace that the object is in. Cannot be changed.",
      ownerReferences: "The objects that this one belongs to; it is collected when they are gone.",
      resourceVersion:
        "Changes with every change of the object; among objects of one resource, the greater number is the later.",
      selfLink: SELF_LINK,
      uid: "Identifies the object over all time, while names are used again. Set by the server.",
    },
  },
  OwnerReference: {
    is: "Names an object that this one belongs to, in the same namespace or in none.",
    fields: {
      apiVersion: "The group and version of the owner's kind, `apps/v1`.",
      blockOwnerDeletion:
        "Whether the owner, deleted in the foreground, stays until this object is gone; default false.",
      controller: "Whether the owner is the one that controls this object; at most one does.",
      kind: "The kind of the owner.",
      name: "The name of the owner.",
      uid: "The UID of the owner.",
    },
  },
  Preconditions: {
    is: "What must be true of an object for a request to be carried out.",
    fields: {
      resourceVersion: "The resource version that the object must have.",
      uid: "The UID that the object must have.",
    },
  },
  ServerAddressByClientCIDR: {
    is: "The address of the server for clients of a network.",
    fields: {
      clientCIDR: "The network that the client is in, as a CIDR.",
      serverAddress: "The address of the server for these clients: a host name or IP address, with or without a port.",
    },
  },
  ShardInfo: {
    is: "Which shard of the objects a list holds.",
    fields: { selector: "The shard that the request asked for." },
  },
  Status: {
    is: "The answer to a request that has no object to answer with, mostly an error.",
    fields: {
      apiVersion: API_VERSION,
      code: "The HTTP status code.",
      details: "What the error is about.",
      kind: "Always `Status`.",
      message: "What happened, for people.",
      metadata: "Mostly empty; for a list whose `continue` has expired, a new one.",
      reason: "Why the request failed, in one CamelCase word, `NotFound`.",
      status: "Success or Failure.",
    },
  },
  StatusCause: {
    is: "One of the causes of an error.",
    fields: {
      field: "The path of the field that is wrong, `spec.containers[0].name`.",
      message: "What is wrong, for people.",
      reason: "What is wrong, in one CamelCase word, `FieldValueInvalid`.",
    },
  },
  StatusDetails: {
    is: "What an error is about.",
    fields: {
      causes: "The causes, when there are several or they concern fields.",
      group: "The group of the object.",
      kind: "The kind of the object, or the name of its resource.",
      name: "The name of the object.",
      retryAfterSeconds: "How long to wait before the request is tried again, in seconds.",
      uid: "The UID of the object.",
    },
  },
  WatchEvent: {
    is: "A change that a watch reports.",
    fields: {
      object:
        "The object after the change, or before it was deleted; for ERROR a Status, for BOOKMARK only a resource version.",
      type: "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.",
    },
  },
};
