import { beforeEach, expect, test } from "vitest";
import { requestFor } from "./__fixtures__/admission-bench.ts";
import { type CertificateSubjects, createCertificateSubjects } from "./certificate-subjects.ts";

const SUBJECT = { commonName: "system:node:a", organizations: ["system:nodes"] };
const creationOf = (resource: string) => ({ kind: requestFor(resource, {}).kind, namespace: "", body: {} });
const CREATION = creationOf("certificatesigningrequests.certificates.k8s.io");

let loads: number;
let subjects: CertificateSubjects;

beforeEach(() => {
  loads = 0;
  subjects = createCertificateSubjects(async () => {
    loads += 1;
    return (requestPem) => ({ ...SUBJECT, commonName: requestPem });
  });
});

test("the code that reads requests is loaded before the first one, and once", async () => {
  expect(subjects.settle(creationOf("pods"))).toBeUndefined();
  expect(loads).toBe(0);
  await subjects.settle(CREATION);
  expect(subjects.settle(CREATION)).toBeUndefined();
  expect(loads).toBe(1);
});

test("a request is base64 of PEM", async () => {
  await subjects.settle(CREATION);
  expect(subjects.parse(Buffer.from("PEM").toString("base64"))).toEqual({ ...SUBJECT, commonName: "PEM" });
});

test("a request that comes before the code is there is refused", () => {
  expect(() => subjects.parse("")).toThrow("certificate requests cannot be read yet: try again");
});

test("the next request loads again what could not be loaded", async () => {
  let isBroken = true;
  const flaky = createCertificateSubjects(async () => {
    if (isBroken) throw new Error("no module");
    return () => SUBJECT;
  });
  await expect(flaky.settle(CREATION)).rejects.toThrow("no module");
  isBroken = false;
  await flaky.settle(CREATION);
  expect(flaky.parse("")).toEqual(SUBJECT);
});
