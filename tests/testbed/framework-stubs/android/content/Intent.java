package android.content;

/** Says which component is meant, and what it is asked to do. */
public class Intent {
    private final String action;
    private ComponentName component;

    public Intent() { this((String) null); }

    public Intent(String action) { this.action = action; }

    public Intent(Context context, Class<?> component) {
        this();
        setClassName(context.getPackageName(), component.getName());
    }

    public Intent setClassName(String packageName, String className) {
        component = new ComponentName(packageName, className);
        return this;
    }

    public String getAction() { return action; }
    public ComponentName getComponent() { return component; }
}
