import type { TypeDescriptions } from "../type-description.ts";

/** What both sorts of webhooks have. */
const WEBHOOK = {
  admissionReviewVersions: "The versions of AdmissionReview that the webhook understands, the preferred one first.",
  clientConfig: "How the webhook is reached.",
  failurePolicy:
    "What happens when the webhook gives no proper answer: Fail (default) refuses the request, Ignore skips the webhook.",
  matchConditions: "Further conditions on a request, at most 64, all of which must hold.",
  matchPolicy:
    "Exact takes the rules as written; Equivalent (default) also matches requests for the same objects in another group or version.",
  name: "The webhook's name, a domain name of at least three parts.",
  namespaceSelector:
    "Only objects in namespaces with these labels; default all. Cluster-wide objects other than namespaces always match.",
  objectSelector: "Only objects that have these labels before or after the change; default all.",
  rules: "Which requests the webhook is asked about: those that match at least one rule.",
  sideEffects: "Whether a call changes anything else: None, or NoneOnDryRun if it does except in dry runs.",
  timeoutSeconds: "How long the webhook may take, in seconds, from 1 to 30, default 10.",
};

export const ADMISSION_TYPES: TypeDescriptions = {
  ApplyConfiguration: {
    is: "A change in the form of server-side apply.",
    fields: {
      expression:
        "A CEL expression that yields an `Object{...}` with the fields to set; lists and maps that are atomic cannot be changed.",
    },
  },
  AuditAnnotation: {
    is: "A note that a policy adds to the audit event of a request.",
    fields: {
      key: "The note's key, unique in the policy; the policy's name and a slash are put before it.",
      valueExpression: "A CEL expression that yields the note's text; null or an empty string adds no note.",
    },
  },
  ExpressionWarning: {
    is: "A finding about one expression of a policy.",
    fields: {
      fieldRef: "Where the expression stands, such as `spec.validations[0].expression`.",
      warning: "What is wrong with the expression's types, for people.",
    },
  },
  JSONPatch: {
    is: "A change in the form of a JSON patch.",
    fields: { expression: "A CEL expression that yields a list of `JSONPatch{...}` operations." },
  },
  MatchCondition: {
    is: "A condition that a request must meet besides the rules.",
    fields: {
      expression:
        "A CEL expression that yields true or false; it sees `object`, `oldObject`, `request` and `authorizer`, and in policies `params`.",
      name: "Names the condition, unique in its list.",
    },
  },
  MatchResources: {
    is: "Which requests a policy or a binding is about.",
    fields: {
      excludeResourceRules: "Requests that are left out, even if `resourceRules` match them.",
      matchPolicy:
        "Exact takes the rules as written; Equivalent (default) also matches requests for the same objects in another group or version.",
      namespaceSelector:
        "Only objects in namespaces with these labels; default all. Cluster-wide objects other than namespaces always match.",
      objectSelector: "Only objects that have these labels before or after the change; default all.",
      resourceRules:
        "Requests that match at least one of these rules. Required in a policy; without rules a binding is about all that its policy is about.",
    },
  },
  MutatingAdmissionPolicy: {
    is: "Changes objects on their way in, with CEL expressions.",
    fields: { spec: "What the policy changes, and where." },
  },
  MutatingAdmissionPolicyBinding: {
    is: "Puts a mutating policy into force, with the requests and the parameters that it is for.",
    fields: { spec: "Which policy is in force, for which requests and with which parameters." },
  },
  MutatingAdmissionPolicyBindingSpec: {
    is: "Which policy is in force, for which requests and with which parameters.",
    fields: {
      matchResources: "Narrows the binding to some of the policy's requests; default all.",
      paramRef: "The objects that the policy's expressions see as `params`, if it has a `paramKind`.",
      policyName: "The name of the policy.",
    },
  },
  MutatingAdmissionPolicySpec: {
    is: "What a policy changes, and where.",
    fields: {
      failurePolicy:
        "What happens when the policy cannot be evaluated: Fail (default) refuses the request, Ignore skips the policy.",
      matchConditions: "Further conditions on a request, at most 64, all of which must hold.",
      matchConstraints: "Which requests the policy is about; deletions cannot be matched. Required.",
      mutations: "The changes, at least one, made in this order.",
      paramKind: "The kind of the objects that hold the policy's parameters; a policy without it has none.",
      reinvocationPolicy:
        "Whether the changes may be made again when the object is changed after them: Never or IfNeeded. Required.",
      variables: "Expressions that later ones and the mutations can use as `variables.NAME`.",
    },
  },
  MutatingWebhook: {
    is: "A webhook that may change objects on their way in.",
    fields: {
      ...WEBHOOK,
      reinvocationPolicy:
        "Whether the webhook is asked again when the object is changed after it: Never (default) or IfNeeded.",
    },
  },
  MutatingWebhookConfiguration: {
    is: "Webhooks that may change objects on their way in.",
    fields: { webhooks: "The webhooks, asked one after the other." },
  },
  Mutation: {
    is: "A change that a policy makes to an object.",
    fields: {
      applyConfiguration: "The change in the form of server-side apply, for the type ApplyConfiguration.",
      jsonPatch: "The change in the form of a JSON patch, for the type JSONPatch.",
      patchType: "ApplyConfiguration or JSONPatch.",
    },
  },
  NamedRuleWithOperations: {
    is: "Matches requests by what they do to which objects, and by the objects' names.",
    fields: {
      apiGroups: "The API groups of the resources; an empty string is the core group, `*` stands for all.",
      apiVersions: "The API versions of the resources; `*` for all.",
      operations: "CREATE, UPDATE, DELETE and CONNECT; `*` for all.",
      resourceNames: "The names of the only objects that are meant; none means all.",
      resources:
        "The resources in plural, such as `pods` and `pods/status`; `*` for all without subresources, `*/*` with them.",
      scope: "Cluster for cluster-wide objects, Namespaced for those in a namespace, `*` for both (default).",
    },
  },
  ParamKind: {
    is: "The kind of the objects that hold the parameters of a policy.",
    fields: {
      apiVersion: "The group and version of the kind, such as `v1` or `example.com/v1`.",
      kind: "The kind, such as `ConfigMap`.",
    },
  },
  ParamRef: {
    is: "The objects that hold the parameters; exactly one of `name` and `selector` is set.",
    fields: {
      name: "The name of the object.",
      namespace:
        "The namespace of the objects; empty means that of the object under review. Must be empty for cluster-wide kinds.",
      parameterNotFoundAction:
        "What happens when there is no such object: Allow lets the request through, Deny goes by the policy's `failurePolicy`. Required.",
      selector: "The labels of the objects; the policy is evaluated with each of them. An empty selector means all.",
    },
  },
  RuleWithOperations: {
    is: "Matches requests by what they do to which objects.",
    fields: {
      apiGroups: "The API groups of the resources; an empty string is the core group, `*` stands for all.",
      apiVersions: "The API versions of the resources; `*` for all.",
      operations: "CREATE, UPDATE, DELETE and CONNECT; `*` for all.",
      resources:
        "The resources in plural, such as `pods` and `pods/status`; `*` for all without subresources, `*/*` with them.",
      scope: "Cluster for cluster-wide objects, Namespaced for those in a namespace, `*` for both (default).",
    },
  },
  ServiceReference: {
    is: "The service in the cluster behind which a webhook runs.",
    fields: {
      name: "The name of the service.",
      namespace: "The namespace of the service.",
      path: "The path of the URL that is called.",
      port: "The port of the service, default 443.",
    },
  },
  TypeChecking: {
    is: "What is wrong with the types in a policy's expressions.",
    fields: { expressionWarnings: "The findings; none if all is well." },
  },
  ValidatingAdmissionPolicy: {
    is: "Accepts or refuses requests, with CEL expressions.",
    fields: {
      spec: "What the policy checks, and where.",
      status: "Whether the policy's expressions are sound. Set by the server.",
    },
  },
  ValidatingAdmissionPolicyBinding: {
    is: "Puts a validating policy into force, with the requests and the parameters that it is for.",
    fields: { spec: "Which policy is in force, for which requests and with which parameters." },
  },
  ValidatingAdmissionPolicyBindingSpec: {
    is: "Which policy is in force, for which requests and with which parameters.",
    fields: {
      matchResources: "Narrows the binding to some of the policy's requests; default all.",
      paramRef: "The objects that the policy's expressions see as `params`, if it has a `paramKind`.",
      policyName: "The name of the policy.",
      validationActions:
        "What a failed validation leads to: Deny, Warn and Audit, but not both of Deny and Warn. Required.",
    },
  },
  ValidatingAdmissionPolicySpec: {
    is: "What a policy checks, and where. It has at least one of `validations` and `auditAnnotations`.",
    fields: {
      auditAnnotations: "Notes that the policy adds to the audit event of a request.",
      failurePolicy:
        "What happens when the policy cannot be evaluated: Fail (default) counts as a failed validation, Ignore skips the policy.",
      matchConditions: "Further conditions on a request, at most 64, all of which must hold.",
      matchConstraints: "Which requests the policy is about. Required.",
      paramKind: "The kind of the objects that hold the policy's parameters; a policy without it has none.",
      validations: "What must hold for a request.",
      variables: "Expressions that later ones and the validations can use as `variables.NAME`.",
    },
  },
  ValidatingAdmissionPolicyStatus: {
    is: "Whether a policy's expressions are sound.",
    fields: {
      conditions: "The conditions of the policy.",
      observedGeneration: "The generation of the object that this status is about.",
      typeChecking: "What the check of the expressions' types found; set once it is done.",
    },
  },
  ValidatingWebhook: {
    is: "A webhook that may refuse requests.",
    fields: WEBHOOK,
  },
  ValidatingWebhookConfiguration: {
    is: "Webhooks that may refuse requests.",
    fields: { webhooks: "The webhooks, all of which must agree." },
  },
  Validation: {
    is: "Something that must hold for a request.",
    fields: {
      expression:
        "A CEL expression that must yield true; it sees `object`, `oldObject`, `request`, `params`, `variables`, `namespaceObject` and `authorizer`.",
      message: "What the client is told when the validation fails; required if the expression has line breaks.",
      messageExpression: "A CEL expression that yields what the client is told; goes before `message`.",
      reason: "The reason given to the client: Unauthorized, Forbidden, Invalid (default) or RequestEntityTooLarge.",
    },
  },
  Variable: {
    is: "An expression with a name.",
    fields: {
      expression: "The CEL expression; it sees what a validation sees, and the variables before it.",
      name: "The name, used as `variables.NAME`; unique in the policy.",
    },
  },
  WebhookClientConfig: {
    is: "How a webhook is reached; exactly one of `service` and `url` is set.",
    fields: {
      caBundle:
        "Authorities that the webhook's certificate must come from, as PEM in base64; default those of the system.",
      service: "The service behind which the webhook runs.",
      url: "The URL of the webhook, which must start with `https://`.",
    },
  },
};
