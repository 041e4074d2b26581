package lakeport.spark;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Iterator;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.apache.spark.connect.proto.UserContext;
import org.apache.spark.sql.catalyst.CurrentUserContext;
import org.sparkproject.connect.grpc.ForwardingServerCallListener;
import org.sparkproject.connect.grpc.Metadata;
import org.sparkproject.connect.grpc.ServerCall;
import org.sparkproject.connect.grpc.ServerCallHandler;
import org.sparkproject.connect.grpc.ServerInterceptor;
import org.sparkproject.connect.grpc.Status;

/**
 * Has Spark know the user of a client of Spark Connect, as it knows that of a client of JDBC.
 *
 * <p>Spark Connect keeps the name with its sessions only. The thread that executes a plan is started by the one that
 * takes the request, and inherits the user from it. Janino compiles this file at run time; see docs/adr/0016-server.md.
 */
public class ConnectUser implements ServerInterceptor {
  private static final String NOBODY = "anonymous";

  private static final String BEARER = "Bearer ";
  private static final Metadata.Key AUTHORIZATION =
      Metadata.Key.of("Authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static volatile Map owners;
  private static volatile Function signed;
  private static volatile BiPredicate may;

  /**
   * Tokens of which each client has to show one of its user.
   *
   * @param given Users by their tokens; null where there are none.
   * @param users Gives the user of a signed token; null where there are none.
   * @param others Whether the user of a token may act as another.
   */
  public static void use(Map given, Function users, BiPredicate others) {
    may = others;
    owners = given;
    signed = users;
  }

  public ServerCall.Listener interceptCall(ServerCall call, Metadata headers, ServerCallHandler next) {
    Map known = owners;
    Function users = signed;
    String owner = null;
    if (known != null || users != null) {
      String shown = (String) headers.get(AUTHORIZATION);
      owner = known == null ? null : ownerOf(known, shown);
      if (owner == null && users != null && shown != null && shown.startsWith(BEARER)) {
        owner = (String) users.apply(shown.substring(BEARER.length()));
      }
      if (owner == null) {
        call.close(Status.UNAUTHENTICATED.withDescription("Invalid or no authentication token"), new Metadata());
        return new Refused();
      }
    }
    return new Listener(call, next.startCall(call, headers), owner);
  }

  /** Looks at all of them, so that the time it takes says nothing. */
  private static String ownerOf(Map known, String shown) {
    byte[] given = (shown == null ? "" : shown).getBytes(StandardCharsets.UTF_8);
    String found = null;
    for (Iterator entries = known.entrySet().iterator(); entries.hasNext(); ) {
      Map.Entry entry = (Map.Entry) entries.next();
      byte[] expected = (BEARER + (String) entry.getKey()).getBytes(StandardCharsets.UTF_8);
      if (MessageDigest.isEqual(expected, given)) {
        found = (String) entry.getValue();
      }
    }
    return found;
  }

  private static class Refused extends ServerCall.Listener {}

  private static class Listener extends ForwardingServerCallListener {
    private final ServerCall call;
    private final ServerCall.Listener listener;
    private final String owner;
    private String user = NOBODY;
    private boolean denied;

    Listener(ServerCall call, ServerCall.Listener listener, String owner) {
      this.call = call;
      this.listener = listener;
      this.owner = owner;
    }

    protected ServerCall.Listener delegate() {
      return listener;
    }

    public void onMessage(Object message) {
      user = userOf(message);
      if (owner != null && !denied && !owner.equals(user)) {
        denied = true;  // also where the question fails
        if (may.test(owner, user)) {
          denied = false;
        } else {
          call.close(
              Status.PERMISSION_DENIED.withDescription("the token is not that of user '" + user + "'"), new Metadata());
        }
      }
      if (denied) {
        return;
      }
      String before = enter();
      try {
        listener.onMessage(message);
      } finally {
        leave(before);
      }
    }

    /** Here requests are handled. */
    public void onHalfClose() {
      if (denied) {
        return;
      }
      String before = enter();
      try {
        listener.onHalfClose();
      } finally {
        leave(before);
      }
    }

    private String enter() {
      String before = (String) CurrentUserContext.CURRENT_USER().get();
      CurrentUserContext.CURRENT_USER().set(user);
      return before;
    }

    private static void leave(String before) {
      if (before == null) {
        CurrentUserContext.CURRENT_USER().remove();
      } else {
        CurrentUserContext.CURRENT_USER().set(before);
      }
    }

    private static String userOf(Object message) {
      try {
        Object context = message.getClass().getMethod("getUserContext", new Class[0]).invoke(message, new Object[0]);
        String name = ((UserContext) context).getUserId();
        return name.trim().isEmpty() ? NOBODY : name;
      } catch (ReflectiveOperationException error) {
        // No request of Spark Connect, such as one of gRPC's own services.
        return NOBODY;
      }
    }
  }
}
