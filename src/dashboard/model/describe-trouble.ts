/** A question about objects that the API server does not answer. */
interface Trouble {
  /** The reason of its Status, or what became of the connection. */
  readonly reason: string;
  readonly message: string;
}

/** Says what is the matter with the objects that a page cannot show, and how to go on. */
export function describeTrouble({ reason, message }: Trouble, what: string): { text: string; mend: string } {
  switch (reason) {
    case "Forbidden":
      return { text: `You may not see ${what}: ${message}`, mend: "Ask for a role that may list and watch them." };
    case "Unauthorized":
      return {
        text: `The API server does not know you any more, so that ${what} are as they were: ${message}`,
        mend: "The credentials of the kubeconfig have ended: renew them. What reads them anew goes on by itself; else stop nodelet dashboard, start it again, and open the link that it prints.",
      };
    default:
      return { text: `${what}: ${message}`, mend: "It is tried again by itself." };
  }
}
