package io.loopbox.screen; // what reads a file is for its package alone

import android.app.Activity;
import android.app.Notification;
import android.app.Phone;
import android.content.ContentProvider;
import android.content.Intent;
import android.net.Uri;
import android.os.Build;
import android.os.ParcelFileDescriptor;
import android.view.View;
import android.widget.TextView;
import io.loopbox.Report;
import io.loopbox.internal.CompleteReport;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/**
 * The screen in an app on a {@link Phone}. Arguments: the API level, whether the app is debuggable, whether
 * it may post notifications, its folder; then what happens: {@code report FILE}, {@code notifications},
 * {@code tap}, {@code list}, {@code click WORDS}, {@code resume}, {@code draw WIDTH}, {@code shared}, {@code
 * open URI MODE}, {@code query URI}, {@code read FILE}, {@code cuts FILE}.
 */
public final class Driven {
    private static final ContentProvider PROVIDER = new ReportProvider();
    private static Activity front;

    private Driven() {}

    public static void main(String[] arguments) throws Exception {
        Build.VERSION.SDK_INT = Integer.parseInt(arguments[0]);
        Phone.app.flags = Boolean.parseBoolean(arguments[1]) ? 2 : 0;
        Phone.showsNotifications = Boolean.parseBoolean(arguments[2]);
        Phone.folder = new File(arguments[3]);
        Phone.main(
                new Callable<Void>() {
                    @Override
                    public Void call() {
                        PROVIDER.attach(Phone.context());
                        return null;
                    }
                });
        for (int at = 4; at < arguments.length; at++) {
            String[] words = arguments[at].split(" ", 2);
            perform(words[0], words.length > 1 ? words[1] : "");
        }
        System.out.flush();
    }

    private static void perform(String what, String with) throws Exception {
        switch (what) {
            case "report":
                CompleteReport.complete(with);
                break;
            case "notifications":
                notifications();
                break;
            case "tap":
                tap();
                break;
            case "list":
                front = Phone.start(new Intent(Phone.context(), ReportsActivity.class));
                print();
                break;
            case "resume":
                Phone.resume(front);
                print();
                break;
            case "click":
                click(with);
                break;
            case "draw":
                draw(Integer.parseInt(with));
                break;
            case "shared":
                shared();
                break;
            case "open":
                open(with.substring(0, with.lastIndexOf(' ')), with.substring(with.lastIndexOf(' ') + 1));
                break;
            case "query":
                Uri asked = Uri.parse(with);
                System.out.println(PROVIDER.query(asked, null, null, null, null) + " " + PROVIDER.getType(asked));
                break;
            case "read":
                File file = new File(with);
                Report report = Report.of(file);
                ReportFile read = ReportFile.read(file);
                System.out.print(ReportText.plain(ReportText.headline(report), report.getDigest(), ReportText.sections(read)));
                break;
            case "cuts":
                cuts(new File(with));
                break;
            default:
                throw new IllegalArgumentException(what);
        }
    }

    private static void notifications() {
        System.out.println("channels " + Phone.channels);
        for (Map.Entry<String, Notification> each : Phone.shown.entrySet()) {
            Notification shown = each.getValue();
            System.out.println("notification " + each.getKey() + ": " + shown.title + " | " + shown.text);
            System.out.println("  alerts once " + shown.onlyAlertOnce + ", more text " + shown.text.equals(shown.bigText));
            System.out.println("  intent flags " + Integer.toHexString(shown.intent.flags) + ", at " + shown.when);
        }
    }

    /** Starts what the notification's intents request; the last of them is in front then. */
    private static void tap() throws Exception {
        Notification shown = Phone.shown.values().iterator().next();
        for (Intent intent : shown.intent.intents) {
            System.out.println("starts " + intent.component.getSimpleName() + " with " + Integer.toHexString(intent.flags));
            front = Phone.start(intent);
        }
        print();
    }

    private static void print() throws Exception {
        for (View view : Phone.views(front)) {
            if (view instanceof TextView) {
                System.out.println(((TextView) view).getText());
            } else if (view.getContentDescription() != null) {
                System.out.println("picture: " + view.getContentDescription());
            }
        }
    }

    /**
     * Clicks the first text view that contains these words. When the click requests an Activity of the app,
     * that Activity is started.
     */
    private static void click(String words) throws Exception {
        for (final View view : Phone.views(front)) {
            if (view instanceof TextView && ((TextView) view).getText().toString().contains(words)) {
                int before = Phone.started.size();
                Phone.main(
                        new Callable<Boolean>() {
                            @Override
                            public Boolean call() {
                                return view.performClick();
                            }
                        });
                if (words.equals("Delete")) {
                    Phone.awaitPosted();
                }
                if (Phone.started.size() > before && Phone.started.get(before).component != null) {
                    front = Phone.start(Phone.started.get(before));
                    print();
                }
                return;
            }
        }
        System.out.println("nothing to click: " + words);
    }

    private static void draw(final int width) throws Exception {
        for (final View view : Phone.views(front)) {
            if (view instanceof TimelineView) {
                Phone.main(
                        new Callable<Void>() {
                            @Override
                            public Void call() {
                                view.show(width);
                                return null;
                            }
                        });
            }
        }
    }

    private static void shared() throws Exception {
        Intent chooser = Phone.started.get(Phone.started.size() - 1);
        Intent sent = (Intent) chooser.extras.get(Intent.EXTRA_INTENT);
        System.out.println("shared " + chooser.action + " " + sent.action + " " + sent.type + " " + Integer.toHexString(sent.flags));
        System.out.println("stream " + sent.extras.get("android.intent.extra.STREAM") + " " + sent.clip.uri);
        for (Map.Entry<String, Object> extra : new TreeMap<String, Object>(sent.extras).entrySet()) {
            if (extra.getValue() instanceof String) {
                System.out.println(extra.getKey() + " " + extra.getValue());
            }
        }
    }

    private static void open(String uri, String mode) {
        try {
            ParcelFileDescriptor opened = PROVIDER.openFile(Uri.parse(uri), mode);
            System.out.println("opened " + opened.file + " " + Integer.toHexString(opened.mode));
        } catch (IOException refused) {
            System.out.println("refused: " + refused);
        } catch (SecurityException refused) {
            System.out.println("refused: " + refused);
        }
    }

    /**
     * Reads the file cut off at every seventh byte, and then with one changed byte, at every seventh place.
     * Prints how many of these files were refused.
     */
    private static void cuts(File file) throws IOException {
        byte[] whole = Files.readAllBytes(file.toPath());
        File part = new File(Phone.folder, "part.lbx");
        int refused = 0;
        for (int length = 0; length < whole.length; length += 7) {
            refused += refuses(part, Arrays.copyOf(whole, length)) ? 1 : 0;
        }
        for (int at = 0; at < whole.length; at += 7) {
            byte[] changed = whole.clone();
            changed[at] ^= 0x55;
            refused += refuses(part, changed) ? 1 : 0;
        }
        System.out.println("refused " + refused + " of " + 2 * ((whole.length + 6) / 7));
    }

    private static boolean refuses(File part, byte[] content) throws IOException {
        FileOutputStream out = new FileOutputStream(part);
        out.write(content);
        out.close();
        try {
            ReportFile read = ReportFile.read(part);
            Timeline.of(read);
            ReportText.sections(read);
            return false;
        } catch (IOException refused) {
            return true;
        }
    }
}
