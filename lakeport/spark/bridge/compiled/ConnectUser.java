package lakeport.spark;

import org.apache.spark.connect.proto.UserContext;
import org.apache.spark.sql.catalyst.CurrentUserContext;
import org.sparkproject.connect.grpc.ForwardingServerCallListener;
import org.sparkproject.connect.grpc.Metadata;
import org.sparkproject.connect.grpc.ServerCall;
import org.sparkproject.connect.grpc.ServerCallHandler;
import org.sparkproject.connect.grpc.ServerInterceptor;

/**
 * Has Spark know the user of a client of Spark Connect, as it knows that of a client of JDBC.
 *
 * <p>Spark Connect keeps the name with its sessions only. The thread that executes a plan is started by the one that
 * takes the request, and inherits the user from it. Janino compiles this file at run time; see docs/adr/0016-server.md.
 */
public class ConnectUser implements ServerInterceptor {
  private static final String NOBODY = "anonymous";

  public ServerCall.Listener interceptCall(ServerCall call, Metadata headers, ServerCallHandler next) {
    return new Listener(next.startCall(call, headers));
  }

  private static class Listener extends ForwardingServerCallListener {
    private final ServerCall.Listener listener;
    private String user = NOBODY;

    Listener(ServerCall.Listener listener) {
      this.listener = listener;
    }

    protected ServerCall.Listener delegate() {
      return listener;
    }

    public void onMessage(Object message) {
      user = userOf(message);
      String before = enter();
      try {
        listener.onMessage(message);
      } finally {
        leave(before);
      }
    }

    /** Here requests are handled. */
    public void onHalfClose() {
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
