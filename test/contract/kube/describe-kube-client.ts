import { afterAll, beforeAll, describe } from "vitest";
import type { Clients, ClientUnderTest, MakeClient, ServerTraits } from "./client-under-test.ts";
import { describeReading } from "./reading.ts";
import { describeWatching } from "./watching.ts";
import { describeWriting } from "./writing.ts";

/** What every KubeClient does, whatever is between it and the API server. */
export function describeKubeClient(name: string, makeClient: MakeClient, traits: ServerTraits): void {
  describe(`${name}: a KubeClient`, () => {
    let under: ClientUnderTest | undefined;
    const running = () => {
      if (under === undefined) throw new Error("the client is there only while the cases run");
      return under;
    };
    beforeAll(async () => {
      under = await makeClient();
    });
    afterAll(async () => under?.stop());
    const clients: Clients = { admin: () => running().admin, stranger: () => running().stranger };
    describeReading(clients);
    describeWriting(clients);
    describeWatching(clients, traits);
  });
}
