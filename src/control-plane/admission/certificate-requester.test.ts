import { describe, expect, test } from "vitest";
import type { CertificateSigningRequestSpec } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import type { User } from "../ports/user.ts";
import { admit, requestFor } from "./__fixtures__/admission-bench.ts";
import { createCertificateRequester } from "./certificate-requester.ts";

const REQUESTS = "certificatesigningrequests.certificates.k8s.io";
const ASKED: CertificateSigningRequestSpec = { request: "cGVt", signerName: "example.com/s", usages: ["client auth"] };
const FORGED = { username: "admin", uid: "0", groups: ["system:masters"], extra: { scopes: ["all"] } };

const csr = (spec: CertificateSigningRequestSpec) => {
  const metadata = { name: "c" };
  return untyped({ apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata, spec });
};

function requestedBy(user: User, sent: CertificateSigningRequestSpec): CertificateSigningRequestSpec {
  const admitted = admit(createCertificateRequester(), requestFor(REQUESTS, { object: csr(sent), user }));
  if (admitted === undefined) return expect.fail("the plugin gave no object");
  return typed("CertificateSigningRequest", admitted).spec;
}

describe("a new certificate request", () => {
  test.each<[string, User, object]>([
    ["a name and groups", { username: "jane", groups: ["devs"] }, { username: "jane", groups: ["devs"] }],
    [
      "everything",
      { username: "jane", uid: "u1", groups: [], extra: { scopes: ["some"] } },
      { username: "jane", uid: "u1", groups: [], extra: { scopes: ["some"] } },
    ],
    ["an empty UID", { username: "jane", uid: "", groups: [], extra: {} }, { username: "jane", groups: [] }],
  ])("is its author's, of whom %s is known", (_what, user, author) => {
    expect(requestedBy(user, ASKED)).toEqual({ ...ASKED, ...author });
  });

  test("is not somebody else's, whatever it says", () => {
    const jane = { username: "jane", groups: [] };
    expect(requestedBy(jane, { ...ASKED, ...FORGED })).toEqual({ ...ASKED, ...jane });
  });

  test("is changed in a copy: what was sent stays", () => {
    const object = csr({ ...ASKED, ...FORGED });
    const before = structuredClone(object);
    admit(createCertificateRequester(), requestFor(REQUESTS, { object }));
    expect(object).toEqual(before);
  });
});

test.each([
  ["an update", REQUESTS, "UPDATE"],
  ["an approval", `${REQUESTS}/approval`, "UPDATE"],
  ["another kind", "configmaps", "CREATE"],
] as const)("%s keeps what it says", (_what, target, operation) => {
  const object = csr({ ...ASKED, ...FORGED });
  expect(admit(createCertificateRequester(), requestFor(target, { operation, object, current: object }))).toBe(object);
});
