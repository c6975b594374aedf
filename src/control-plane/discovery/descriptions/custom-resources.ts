import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

export const CUSTOM_RESOURCE_TYPES: TypeDescriptions = {
  CustomResourceColumnDefinition: {
    is: "A column of the table that `kubectl get` prints.",
    fields: {
      description: "What the column shows, for people.",
      format: "The format of the value, such as `int32`, `date` or `date-time`.",
      jsonPath: "Where the value stands in the object, such as `.spec.replicas`.",
      name: "The heading of the column.",
      priority: "How important the column is, default 0; with a greater number it is shown only with `-o wide`.",
      type: "The type of the value: `integer`, `number`, `string`, `boolean` or `date`.",
    },
  },
  CustomResourceConversion: {
    is: "How objects are converted between versions of their kind.",
    fields: {
      strategy: "None changes only `apiVersion`, Webhook asks a webhook. Required.",
      webhook: "The webhook that converts, for the strategy Webhook.",
    },
  },
  CustomResourceDefinition: { is: "Adds a kind of object to the API.", fields: {} },
  CustomResourceDefinitionCondition: {
    is: "How a definition stands in one respect.",
    fields: {
      ...CONDITION_FIELDS,
      observedGeneration: "The generation of the object that this status is about.",
      type: "What the condition is about, such as NamesAccepted, Established, NonStructuralSchema or Terminating.",
    },
  },
  CustomResourceDefinitionNames: {
    is: "What a kind is called.",
    fields: {
      categories: "Groups that `kubectl get` lists together, such as `all`.",
      kind: "The kind in CamelCase and singular, such as `CronTab`.",
      listKind: "The kind of a list; default the kind with List after it.",
      plural: "The plural in lower case, as in URLs. The definition is named after it, a dot and the group.",
      shortNames: "Short names in lower case for `kubectl`, such as `ct`.",
      singular: "The singular in lower case; default the kind in lower case.",
    },
  },
  CustomResourceDefinitionSpec: {
    is: "A kind of object that is added to the API.",
    fields: {
      conversion: "How objects are converted between the versions; default only their `apiVersion` changes.",
      group: "The API group of the kind, a domain name; objects are served below `/apis/GROUP`.",
      names: "What the kind is called.",
      preserveUnknownFields:
        "No longer used; must be false. `x-kubernetes-preserve-unknown-fields` in the schema takes its place.",
      scope: "Cluster or Namespaced: whether objects are cluster-wide or in a namespace. Cannot be changed.",
      versions: "The versions of the kind, exactly one of which is stored.",
    },
  },
  CustomResourceDefinitionStatus: {
    is: "How a definition stands.",
    fields: {
      acceptedNames: "The names in use, which differ from the wanted ones while those are taken.",
      conditions: "The conditions of the definition.",
      observedGeneration: "The generation of the object that this status is about.",
      storedVersions:
        "The versions in which objects may be stored. One in this list cannot be removed from the definition.",
    },
  },
  CustomResourceDefinitionVersion: {
    is: "A version of a kind.",
    fields: {
      additionalPrinterColumns: "The columns that `kubectl get` prints besides the name; default the age.",
      deprecated: "Whether clients are warned when they use the version; default false.",
      deprecationWarning: "The warning, in place of the usual one. Only together with `deprecated`.",
      name: "The version, such as `v1` or `v1beta1`.",
      schema: "What objects look like in the version.",
      selectableFields: "Fields that field selectors may use, at most 8.",
      served: "Whether the version is served.",
      storage: "Whether objects are stored in the version; true for exactly one.",
      subresources: "Which of `/status` and `/scale` the version has.",
    },
  },
  CustomResourceSubresources: {
    is: "Which of `/status` and `/scale` a version has.",
    fields: {
      scale: "Adds `/scale`, by which `kubectl scale` and autoscalers set the number of replicas.",
      status: "Adds `/status` when set to `{}`. The status can then be changed only there, and nothing else can.",
    },
  },
  CustomResourceSubresourceScale: {
    is: "Where in an object the values of its `/scale` stand.",
    fields: {
      labelSelectorPath:
        "Where the selector of the pods stands, a string under `.spec` or `.status`. Autoscalers need it.",
      specReplicasPath: "Where the wanted number of replicas stands, under `.spec`.",
      statusReplicasPath: "Where the seen number of replicas stands, under `.status`; 0 if it is missing.",
    },
  },
  CustomResourceValidation: {
    is: "What objects look like in a version.",
    fields: { openAPIV3Schema: "The schema of the objects. Fields that it does not name are dropped." },
  },
  ExternalDocumentation: {
    is: "More about a value, elsewhere.",
    fields: { description: "What is found there.", url: "The URL of the documentation." },
  },
  JSONSchemaProps: {
    is: "What a value looks like, as an OpenAPI schema.",
    fields: {
      $ref: "Not supported.",
      $schema: "Not supported.",
      additionalItems: "Not supported.",
      additionalProperties: "The schema of the values of a map, or true for any. Not together with `properties`.",
      allOf: "Schemas, all of which the value must meet.",
      anyOf: "Schemas, at least one of which the value must meet.",
      default: "The value that is filled in where there is none.",
      definitions: "Not supported.",
      dependencies: "Not supported.",
      description: "What the value means; `kubectl explain` prints it.",
      enum: "The allowed values.",
      example: "An example of a value.",
      exclusiveMaximum: "Whether the number must be less than `maximum`, not equal to it.",
      exclusiveMinimum: "Whether the number must be greater than `minimum`, not equal to it.",
      externalDocs: "More about the value, elsewhere.",
      format:
        "The form of a string or number, such as `date-time`, `email`, `ipv4`, `uuid` or `int64`. Unknown ones are ignored.",
      id: "Not supported.",
      items: "The schema of the items of a list.",
      maxItems: "The largest allowed number of items.",
      maxLength: "The largest allowed number of characters.",
      maxProperties: "The largest allowed number of fields.",
      maximum: "The largest allowed number.",
      minItems: "The smallest allowed number of items.",
      minLength: "The smallest allowed number of characters.",
      minProperties: "The smallest allowed number of fields.",
      minimum: "The smallest allowed number.",
      multipleOf: "The number must be a multiple of this one.",
      not: "A schema that the value must not meet.",
      nullable: "Whether null is allowed; default false.",
      oneOf: "Schemas, exactly one of which the value must meet.",
      pattern: "A regular expression that must match somewhere in the string.",
      patternProperties: "Not supported.",
      properties: "The schemas of the fields, by name.",
      required: "The names of the fields that must be there.",
      title: "A heading for the value.",
      type: "The type: `object`, `array`, `string`, `integer`, `number` or `boolean`.",
      uniqueItems: "Must not be true; a list without duplicates has the list type `set`.",
      "x-kubernetes-embedded-resource":
        "Whether the value is an object with `apiVersion`, `kind` and `metadata` of its own.",
      "x-kubernetes-int-or-string": "Whether the value is an integer or a string.",
      "x-kubernetes-list-map-keys": "The fields that tell the items of a list of type `map` apart.",
      "x-kubernetes-list-type":
        "How a list is merged: `atomic` (default) as a whole, `set` by its values, `map` by keys of its items.",
      "x-kubernetes-map-type": "How an object is merged: `granular` (default) field by field, `atomic` as a whole.",
      "x-kubernetes-preserve-unknown-fields": "True keeps fields that the schema does not name; false is not allowed.",
      "x-kubernetes-validations": "Rules in CEL that the value must obey.",
    },
  },
  SelectableField: {
    is: "A field that field selectors may use.",
    fields: { jsonPath: "Where the field stands, such as `.spec.color`. It is a string, a boolean or an integer." },
  },
  ApiextensionsServiceReference: {
    is: "The service in the cluster behind which a webhook runs.",
    fields: {
      name: "The name of the service.",
      namespace: "The namespace of the service.",
      path: "The path of the URL that is called.",
      port: "The port of the service, default 443.",
    },
  },
  ValidationRule: {
    is: "A rule in CEL that a value must obey.",
    fields: {
      fieldPath: "The field that the error is about, from here on, such as `.spec.size`; default the value itself.",
      message: "What the client is told when the rule is broken; required if the rule has line breaks.",
      messageExpression: "A CEL expression that yields what the client is told; goes before `message`.",
      optionalOldSelf:
        "Whether a rule with `oldSelf` also counts where there is no old value; `oldSelf` is then an optional value.",
      reason:
        "The reason given to the client: FieldValueInvalid (default), FieldValueForbidden, FieldValueRequired or FieldValueDuplicate.",
      rule: "A CEL expression that must yield true; `self` is the value, and `oldSelf` the value before an update.",
    },
  },
  ApiextensionsWebhookClientConfig: {
    is: "How a webhook is reached; exactly one of `service` and `url` is set.",
    fields: {
      caBundle:
        "Authorities that the webhook's certificate must come from, as PEM in base64; default those of the system.",
      service: "The service behind which the webhook runs.",
      url: "The URL of the webhook, which must start with `https://`.",
    },
  },
  WebhookConversion: {
    is: "A webhook that converts objects between versions.",
    fields: {
      clientConfig: "How the webhook is reached.",
      conversionReviewVersions:
        "The versions of ConversionReview that the webhook understands, the preferred one first.",
    },
  },
};
