import type { TypeDescriptions } from "../type-description.ts";

export const ACCESS_TYPES: TypeDescriptions = {
  AggregationRule: {
    is: "Which cluster roles a cluster role is put together from.",
    fields: { clusterRoleSelectors: "Every cluster role whose labels match one of these selectors gives its rules." },
  },
  BoundObjectReference: {
    is: "The object that a token is bound to.",
    fields: {
      apiVersion: "The object's API version, `v1`.",
      kind: "Pod, Secret or Node.",
      name: "The object's name.",
      uid: "The object's UID, if only this very object is meant.",
    },
  },
  CertificateSigningRequest: {
    is: "A request for a certificate, to be approved and then signed.",
    fields: {
      spec: "What the certificate is for, and who asks for it. Cannot be changed.",
      status: "Whether the request was approved, and the certificate.",
    },
  },
  CertificateSigningRequestCondition: {
    is: "A decision about a request for a certificate.",
    fields: {
      lastTransitionTime: "When the condition's status last changed.",
      lastUpdateTime: "When the condition was last updated.",
      message: "Why, for people.",
      reason: "Why, in one CamelCase word.",
      status: "True, False or Unknown. Approved, Denied and Failed are always True.",
      type: "Approved, Denied or Failed.",
    },
  },
  CertificateSigningRequestSpec: {
    is: "What a certificate is asked for.",
    fields: {
      expirationSeconds:
        "How long the certificate should be valid, in seconds, at least 600. The signer may choose another time.",
      extra: "Other facts about the user who asks, by key. Set by the server.",
      groups: "The groups of the user who asks. Set by the server.",
      request: "The request as PEM, a `CERTIFICATE REQUEST` block, in base64.",
      signerName: "Who should sign, such as `kubernetes.io/kubelet-serving`.",
      uid: "The UID of the user who asks. Set by the server.",
      usages: "What the certificate may be used for, such as `digital signature`, `client auth` and `server auth`.",
      username: "The name of the user who asks. Set by the server.",
    },
  },
  CertificateSigningRequestStatus: {
    is: "How a request for a certificate stands.",
    fields: {
      certificate:
        "The certificate, and intermediate ones after it, as PEM in base64. Set by the signer; cannot be changed then.",
      conditions: "The decisions: Approved or Denied, and Failed if the signer could not sign.",
    },
  },
  ClusterRole: {
    is: "A set of permissions that holds in every namespace and for cluster-wide objects.",
    fields: {
      aggregationRule: "Fills `rules` from other cluster roles; rules written by hand are replaced.",
      rules: "What is allowed; each rule adds to the others.",
    },
  },
  ClusterRoleBinding: {
    is: "Gives the permissions of a cluster role to users, groups and service accounts, everywhere.",
    fields: {
      roleRef: "The cluster role whose permissions are given. Cannot be changed.",
      subjects: "Who gets the permissions.",
    },
  },
  ClusterTrustBundle: {
    is: "Certificates of authorities that pods may trust.",
    fields: { spec: "The certificates, and the signer that they belong to." },
  },
  ClusterTrustBundleSpec: {
    is: "Certificates of authorities, and the signer that they belong to.",
    fields: {
      signerName: "Whose certificates it verifies; none if empty.",
      trustBundle: "Certificates of authorities, as PEM.",
    },
  },
  FieldSelectorAttributes: {
    is: "Narrows a request to objects whose fields have certain values.",
    fields: {
      rawSelector: "The selector as written in a URL's query. Not together with `requirements`.",
      requirements: "The selector as a list of requirements, all of which must hold. Not together with `rawSelector`.",
    },
  },
  LabelSelectorAttributes: {
    is: "Narrows a request to objects that have certain labels.",
    fields: {
      rawSelector: "The selector as written in a URL's query. Not together with `requirements`.",
      requirements: "The selector as a list of requirements, all of which must hold. Not together with `rawSelector`.",
    },
  },
  LocalSubjectAccessReview: {
    is: "Asks whether a user may do something in the review's namespace.",
    fields: { spec: "Who wants to do what.", status: "The answer. Set by the server." },
  },
  NonResourceAttributes: {
    is: "A request for a path that is no API object, such as `/healthz`.",
    fields: { path: "The URL's path.", verb: "The HTTP method in lower case, such as `get`." },
  },
  NonResourceRule: {
    is: "Paths that are no API objects, and what may be done with them.",
    fields: {
      nonResourceURLs: "The paths; a `*` at the end stands for any rest, and alone for every path.",
      verbs: "The HTTP methods in lower case; `*` for all.",
    },
  },
  PodCertificateRequest: {
    is: "A request of a node for the certificate of one of its pods.",
    fields: {
      spec: "Which pod wants a certificate, with which key and from which signer. Cannot be changed.",
      status: "Whether the request was met, and the certificate. Set by the signer.",
    },
  },
  PodCertificateRequestSpec: {
    is: "What a certificate is asked for, and for which pod.",
    fields: {
      maxExpirationSeconds:
        "How long the certificate may be valid at most, in seconds, from 3600 to 7862400, default 86400.",
      nodeName: "The node that the pod runs on.",
      nodeUID: "The UID of the node.",
      pkixPublicKey: "The public key (PKIX, in base64). Replaced by `stubPKCS10Request`, with which it must be empty.",
      podName: "The pod that gets the certificate.",
      podUID: "The UID of the pod.",
      proofOfPossession:
        "The pod's UID signed with the private key, in base64. Replaced by `stubPKCS10Request`, with which it must be empty.",
      serviceAccountName: "The service account that the pod runs as.",
      serviceAccountUID: "The UID of the service account.",
      signerName: "Who should sign the certificate.",
      stubPKCS10Request:
        "A certificate request (PKCS#10 as DER, in base64) that carries the public key and proves that the node has the private one.",
      unverifiedUserAnnotations:
        "What the pod's author tells the signer, by key. Nobody has checked whether it is true.",
    },
  },
  PodCertificateRequestStatus: {
    is: "How a request for a pod's certificate stands.",
    fields: {
      beginRefreshAt: "From when on the node agent should ask for the next certificate. Set by the signer.",
      certificateChain:
        "The certificate, and intermediate ones after it, as PEM. Set by the signer; cannot be changed then.",
      conditions: "The outcome: at most one of Issued, Denied and Failed.",
      notAfter: "Until when the certificate is valid. Set by the signer.",
      notBefore: "From when on the certificate is valid. Set by the signer.",
    },
  },
  PolicyRule: {
    is: "What may be done with which objects or paths.",
    fields: {
      apiGroups: "The API groups of the resources; an empty string is the core group, `*` stands for all.",
      nonResourceURLs:
        "Paths that are no API objects; `*` at the end stands for any rest. They count only where a cluster role is bound by a cluster role binding.",
      resourceNames: "The names of the only objects that are meant; none means all.",
      resources: "The resources in plural, such as `pods` and `pods/log`; `*` for all.",
      verbs: "What may be done, such as `get`, `list`, `watch`, `create`, `update`, `patch` and `delete`; `*` for all.",
    },
  },
  ResourceAttributes: {
    is: "A request for API objects.",
    fields: {
      fieldSelector: "Narrows the request to objects whose fields have certain values.",
      group: "The API group of the resource; `*` for all.",
      labelSelector: "Narrows the request to objects that have certain labels.",
      name: "The object's name; empty means all.",
      namespace: "The objects' namespace; empty means all namespaces, or none for cluster-wide objects.",
      resource: "The resource in plural, such as `pods`; `*` for all.",
      subresource: "The subresource, such as `log`; empty means none.",
      verb: "What is to be done, such as `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`; `*` for all.",
      version: "The API version of the resource; `*` for all.",
    },
  },
  ResourceRule: {
    is: "API objects, and what may be done with them.",
    fields: {
      apiGroups: "The API groups of the resources; an empty string is the core group, `*` stands for all.",
      resourceNames: "The names of the only objects that are meant; none means all.",
      resources: "The resources in plural; `*` for all, `*/scale` for one subresource of all.",
      verbs: "What may be done, such as `get` and `list`; `*` for all.",
    },
  },
  Role: {
    is: "A set of permissions within a namespace.",
    fields: { rules: "What is allowed; each rule adds to the others." },
  },
  RoleBinding: {
    is: "Gives the permissions of a role to users, groups and service accounts, within a namespace.",
    fields: {
      roleRef: "The role or cluster role whose permissions are given. Cannot be changed.",
      subjects: "Who gets the permissions.",
    },
  },
  RoleRef: {
    is: "Names the role whose permissions a binding gives.",
    fields: {
      apiGroup: "The API group of the role, `rbac.authorization.k8s.io`.",
      kind: "Role or ClusterRole.",
      name: "The name of the role.",
    },
  },
  SelfSubjectAccessReview: {
    is: "Asks whether the caller may do something.",
    fields: { spec: "What the caller wants to do.", status: "The answer. Set by the server." },
  },
  SelfSubjectAccessReviewSpec: {
    is: "What the caller wants to do; exactly one of the fields is set.",
    fields: {
      nonResourceAttributes: "A request for a path that is no API object.",
      resourceAttributes: "A request for API objects.",
    },
  },
  SelfSubjectReview: {
    is: "Asks the server who it takes the caller for.",
    fields: { status: "The answer. Set by the server." },
  },
  SelfSubjectReviewStatus: { is: "Who the server takes the caller for.", fields: { userInfo: "The caller." } },
  SelfSubjectRulesReview: {
    is: "Asks what the caller may do in a namespace.",
    fields: { spec: "Which namespace the question is about.", status: "The answer. Set by the server." },
  },
  SelfSubjectRulesReviewSpec: {
    is: "Which namespace the question is about.",
    fields: { namespace: "The namespace. Required." },
  },
  Subject: {
    is: "A user, a group or a service account that a binding gives permissions to.",
    fields: {
      apiGroup:
        "The API group of the kind: `rbac.authorization.k8s.io` for users and groups, empty for service accounts, each by default.",
      kind: "User, Group or ServiceAccount.",
      name: "The name of the user, group or service account.",
      namespace: "The namespace of the service account; empty for users and groups.",
    },
  },
  SubjectAccessReview: {
    is: "Asks whether a user may do something.",
    fields: { spec: "Who wants to do what.", status: "The answer. Set by the server." },
  },
  SubjectAccessReviewSpec: {
    is: "Who wants to do what; exactly one of `resourceAttributes` and `nonResourceAttributes` is set.",
    fields: {
      extra: "Other facts about the user, by key.",
      groups: "The groups that the user is taken to be in; none by default.",
      nonResourceAttributes: "A request for a path that is no API object.",
      resourceAttributes: "A request for API objects.",
      uid: "The user's UID.",
      user: "The user's name; may be empty if there are groups.",
    },
  },
  SubjectAccessReviewStatus: {
    is: "Whether something is allowed.",
    fields: {
      allowed: "Whether it is allowed.",
      denied: "Whether it is forbidden outright, rather than for want of a permission.",
      evaluationError: "What went wrong on the way to the answer; the answer may hold nevertheless.",
      reason: "Why it is allowed or not.",
    },
  },
  SubjectRulesReviewStatus: {
    is: "What someone may do in a namespace.",
    fields: {
      evaluationError: "What went wrong on the way to the answer, if rules may be missing.",
      incomplete: "Whether rules may be missing.",
      nonResourceRules: "What may be done with paths that are no API objects, in no order.",
      resourceRules: "What may be done with API objects, in no order.",
    },
  },
  TokenRequest: {
    is: "Asks for a token of a service account.",
    fields: { spec: "What the token is for.", status: "The token. Set by the server." },
  },
  TokenRequestSpec: {
    is: "What a token is for.",
    fields: {
      audiences: "Who the token is meant for; others should refuse it. Default the API server.",
      boundObjectRef: "The object that the token is bound to; the API server refuses the token once that is gone.",
      expirationSeconds:
        "How long the token should be valid, in seconds, at least 600, default 3600. The server may choose another time.",
    },
  },
  TokenRequestStatus: {
    is: "The token that was asked for.",
    fields: {
      expirationTimestamp: "Until when the token is valid.",
      token: "The token, to be sent as a bearer token.",
    },
  },
  TokenReview: {
    is: "Asks whether a token is valid, and whose it is.",
    fields: { spec: "The token.", status: "The answer. Set by the server." },
  },
  TokenReviewSpec: {
    is: "A token, and who it should be meant for.",
    fields: {
      audiences: "Who the token should be meant for; one of them is enough. Default the API server.",
      token: "The token.",
    },
  },
  TokenReviewStatus: {
    is: "Whether a token is valid, and whose it is.",
    fields: {
      audiences: "Those among the audiences of the question that the token is meant for.",
      authenticated: "Whether the token is valid and its user is known.",
      error: "Why the token could not be checked.",
      user: "Whose token it is.",
    },
  },
  UserInfo: {
    is: "A user, as the API server sees them.",
    fields: {
      extra: "Other facts about the user, by key.",
      groups: "The groups that the user is in.",
      uid: "Identifies the user over all time, while names are used again.",
      username: "The user's name, unique at any one time.",
    },
  },
};
