import { expect, it } from "vitest";
import { createServerIdentity } from "./server-identity.ts";

function source<Value>(value: Value) {
  const listeners = new Set<() => void>();
  return {
    current: () => value,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    run: async () => {},
    change: () => {
      for (const listener of listeners) listener();
    },
  };
}

it("is the certificate and the authorities, and changes with either until the listener stops", () => {
  const pair = { certificatePem: "c", keyPem: "k" };
  const [certificate, authority] = [source(pair), source("ca")];
  const identity = createServerIdentity(certificate, authority);
  let changes = 0;
  const stop = identity.subscribe(() => void changes++);
  certificate.change();
  authority.change();
  stop();
  certificate.change();
  authority.change();
  expect(changes).toBe(2);
  expect(identity.identity()).toEqual({ pair, clientAuthorityPem: "ca" });
  expect(identity.asksForCertificate).toBe(true);
  expect(identity.parts.map(({ name }) => name)).toEqual(["serving certificate", "client authorities"]);
});

it("asks nobody for a certificate where none would count", () => {
  const identity = createServerIdentity(source(undefined), undefined);
  expect(identity.asksForCertificate).toBe(false);
  expect(identity.identity()).toEqual({ pair: undefined, clientAuthorityPem: undefined });
  expect(identity.parts.map(({ name }) => name)).toEqual(["serving certificate"]);
});
